/* How the tables of protobuf messages are written, and those that more than one file needs. */
#ifndef TRAINYARD_ENGINE_PROTOBUF_TABLES_H
#define TRAINYARD_ENGINE_PROTOBUF_TABLES_H

#include "engine/protobuf.h"

#define TEXT(number_, name_)                                                                       \
    {                                                                                              \
        .number = (number_), .name = (name_), .type = PROTOBUF_STRING                              \
    }
#define TEXTS(number_, name_)                                                                      \
    {                                                                                              \
        .number = (number_), .name = (name_), .type = PROTOBUF_STRING, .repeated = true            \
    }
#define FLAG(number_, name_)                                                                       \
    {                                                                                              \
        .number = (number_), .name = (name_), .type = PROTOBUF_BOOL                                \
    }
#define NUMBER(number_, name_)                                                                     \
    {                                                                                              \
        .number = (number_), .name = (name_), .type = PROTOBUF_INT                                 \
    }
#define MAP(number_, name_)                                                                        \
    {                                                                                              \
        .number = (number_), .name = (name_), .type = PROTOBUF_STRING_MAP                          \
    }
#define MESSAGE(number_, name_, table_)                                                            \
    {                                                                                              \
        .number = (number_), .name = (name_), .type = PROTOBUF_MESSAGE, .message = (table_)        \
    }
#define MESSAGES(number_, name_, table_)                                                           \
    {                                                                                              \
        .number = (number_), .name = (name_), .type = PROTOBUF_MESSAGE, .repeated = true,          \
        .message = (table_)                                                                        \
    }
#define TIME(number_, name_)                                                                       \
    {                                                                                              \
        .number = (number_), .name = (name_), .type = PROTOBUF_TIME                                \
    }
#define MICRO_TIME(number_, name_)                                                                 \
    {                                                                                              \
        .number = (number_), .name = (name_), .type = PROTOBUF_MICRO_TIME                          \
    }
#define END                                                                                        \
    {                                                                                              \
        .number = 0                                                                                \
    }

extern const struct protobuf_field PROTOBUF_OBJECT_META[], PROTOBUF_EVENT[], PROTOBUF_LEASE[];

#endif
