/* How JSON becomes gnostic's messages, as data: openapi_gnostic_v2.c and _v3.c have the tables,
 * openapi_gnostic.c writes by them.
 *
 * A table says for each member of an object which field of which message it becomes. Where JSON has
 * one value gnostic often has messages around it (an "items" may be one schema or many, a parameter
 * one of several kinds): the numbers of those are `around`. What begins with "x-" is one of a list
 * of extensions, each a name and its value as YAML, of which JSON is a part. */
#ifndef TRAINYARD_ENGINE_OPENAPI_GNOSTIC_MESSAGE_H
#define TRAINYARD_ENGINE_OPENAPI_GNOSTIC_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

enum gnostic_type {
    GNOSTIC_TEXT,
    GNOSTIC_FLAG,
    GNOSTIC_COUNT,
    GNOSTIC_REAL,
    GNOSTIC_YAML,      /* any value */
    GNOSTIC_OBJECT,    /* a message */
    GNOSTIC_NAMED,     /* an object of any names: messages with the name as 1 and the value as 2 */
    GNOSTIC_PARAMETER, /* another message for each of its `places` */
    GNOSTIC_SCALAR,    /* a number as 1, a boolean as 2, a text as 3; of others it is empty */
};

enum { GNOSTIC_AROUND_MAX = 4 };

struct gnostic_field {
    const char *name;
    uint8_t number;
    enum gnostic_type type;
    const struct gnostic_message *message;
    uint8_t around[GNOSTIC_AROUND_MAX]; /* from the outside, ends with 0 */
    uint8_t entry;                      /* of GNOSTIC_NAMED: the number of each entry */
    uint8_t within[GNOSTIC_AROUND_MAX]; /* of GNOSTIC_NAMED: around each value */
    bool refers; /* an object is 1 of a message, and one that only refers to another is 2 */
    const struct gnostic_place *places;
};

struct gnostic_message {
    const struct gnostic_field *fields; /* ends with name NULL */
    uint8_t extensions;                 /* the number of their list; 0: it has none */
};

struct gnostic_place {
    const char *in; /* what the parameter says; NULL ends a list */
    const struct gnostic_message *message;
    uint8_t around[GNOSTIC_AROUND_MAX];
};

extern const struct gnostic_message OPENAPI_GNOSTIC_V2, OPENAPI_GNOSTIC_V3;

#endif
