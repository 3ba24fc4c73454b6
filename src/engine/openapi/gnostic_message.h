/* How JSON is encoded as gnostic's messages, as data: gnostic_v2.c and gnostic_v3.c have the
 * tables, gnostic.c encodes by them.
 *
 * A table maps each member of a JSON object to a field of a message. Where JSON has one value,
 * gnostic often has messages around it, because "items" may be one schema or many, and a parameter
 * one of several kinds: `around` has the numbers of those messages. A member that starts with "x-"
 * becomes an entry in a list of extensions: its name, and its value as YAML. JSON is valid YAML. */
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
    GNOSTIC_NAMED,     /* an object with any names: one message per member, name 1, value 2 */
    GNOSTIC_PARAMETER, /* one of several messages, chosen by `places` */
    GNOSTIC_SCALAR,    /* a number as field 1, a boolean as 2, a string as 3; else empty */
};

enum { GNOSTIC_AROUND_MAX = 4 };

struct gnostic_field {
    const char *name;
    uint8_t number;
    enum gnostic_type type;
    const struct gnostic_message *message;
    uint8_t around[GNOSTIC_AROUND_MAX]; /* from the outermost to the innermost; ends with 0 */
    uint8_t entry;                      /* of GNOSTIC_NAMED: the number of each entry */
    uint8_t within[GNOSTIC_AROUND_MAX]; /* of GNOSTIC_NAMED: the messages around each value */
    bool refers; /* in an enclosing message, an object is field 1 and a reference field 2 */
    const struct gnostic_place *places;
};

struct gnostic_message {
    const struct gnostic_field *fields; /* ends with name NULL */
    uint8_t extensions;                 /* the number of the list of extensions; 0: none */
};

struct gnostic_place {
    const char *in; /* the member "in" of the parameter; NULL ends a list */
    const struct gnostic_message *message;
    uint8_t around[GNOSTIC_AROUND_MAX];
};

extern const struct gnostic_message OPENAPI_GNOSTIC_V2, OPENAPI_GNOSTIC_V3;

#endif
