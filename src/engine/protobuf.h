/* Kubernetes' protobuf bodies, read into the same JSON trees as every other body. kubectl from 1.32
 * on sends them for a few of its own commands (create namespace, drain, …) and takes no no for an
 * answer, and so do programs in a cluster with what they write about themselves; answers stay JSON,
 * which all accept. Messages are described by constant tables (protobuf_kinds.c); fields no table
 * names are skipped, as protobuf wants it. */
#ifndef TRAINYARD_ENGINE_PROTOBUF_H
#define TRAINYARD_ENGINE_PROTOBUF_H

#include "base/json.h"

enum protobuf_type {
    PROTOBUF_STRING,
    PROTOBUF_BYTES, /* base64 in JSON */
    PROTOBUF_INT,
    PROTOBUF_BOOL,
    PROTOBUF_MESSAGE,
    PROTOBUF_STRING_MAP, /* map<string, string> */
    PROTOBUF_BYTES_MAP,  /* map<string, bytes> */
    PROTOBUF_INT_OR_STRING,
    PROTOBUF_TIME,       /* text to the second; an empty message is none */
    PROTOBUF_MICRO_TIME, /* text to the microsecond */
};

/* Ends with number 0. Go writes fields that were never set as empty ones; `keep_zero` marks those
 * where nought is something said. */
struct protobuf_field {
    uint32_t number;
    const char *name;
    enum protobuf_type type;
    bool repeated;
    bool keep_zero;
    const struct protobuf_field *message; /* of PROTOBUF_MESSAGE */
};

enum { PROTOBUF_DEPTH_MAX = 16, PROTOBUF_FIELDS_MAX = 1000 * 1000 };

/* One message; ERR_BAD_REQUEST for bytes that are none. */
int protobuf_parse(struct arena *arena, const struct protobuf_field *fields, const void *data,
                   size_t size, struct json **ret, struct err *err);

/* The table of a kind that is read from protobuf, or NULL. */
const struct protobuf_field *protobuf_fields_of(const char *api_version, const char *kind);

/* A whole body: "k8s\0", the envelope with apiVersion and kind, the object in it. A kind without a
 * table is ERR_MEDIA_TYPE. */
int protobuf_parse_body(struct arena *arena, const void *data, size_t size, struct json **ret,
                        struct err *err);

#endif
