/* Tables that define how JSON is encoded as gnostic's protobuf messages. gnostic_v2.c and
 * gnostic_v3.c have the tables, and gnostic.c encodes by them.
 *
 * A table maps each member of a JSON object to a field of a message. gnostic often encloses a value
 * in further messages, for example because "items" may be one schema or many. `around` has the
 * field numbers of these enclosing messages. A member whose name starts with "x-" becomes an entry
 * in a list of extensions, with the name and the value as YAML. JSON is valid YAML. */
#ifndef TRAINYARD_ENGINE_OPENAPI_GNOSTIC_MESSAGE_H
#define TRAINYARD_ENGINE_OPENAPI_GNOSTIC_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

enum gnostic_type {
    GNOSTIC_TEXT,
    GNOSTIC_FLAG,
    GNOSTIC_COUNT,
    GNOSTIC_REAL,
    GNOSTIC_YAML,   /* any value, as YAML text */
    GNOSTIC_OBJECT, /* an object: one message */
    /* An object with any names: one message per member; name is field 1, value field 2. */
    GNOSTIC_NAMED,
    GNOSTIC_PARAMETER, /* one of several messages, chosen by the parameter's "in"; see `places` */
    GNOSTIC_SCALAR,    /* number is field 1, boolean 2, string 3; other values: an empty message */
};

enum { GNOSTIC_AROUND_MAX = 4 };

struct gnostic_field {
    const char *name;
    uint8_t number;
    enum gnostic_type type;
    /* GNOSTIC_OBJECT and GNOSTIC_NAMED: the message of the object. */
    const struct gnostic_message *message;
    /* The field numbers of the enclosing messages, outermost first. A 0 ends the list if it is not
     * full. */
    uint8_t around[GNOSTIC_AROUND_MAX];
    uint8_t entry;                      /* GNOSTIC_NAMED: the field number of each entry */
    uint8_t within[GNOSTIC_AROUND_MAX]; /* GNOSTIC_NAMED: like `around`, for each value */
    /* The object is enclosed in one more message, as field 1, or as field 2 if it is a reference
     * ("$ref"). */
    bool refers;
    const struct gnostic_place *places; /* GNOSTIC_PARAMETER: the possible messages */
};

struct gnostic_message {
    const struct gnostic_field *fields; /* ends with name NULL */
    uint8_t extensions;                 /* the field number of the list of extensions; 0: none */
};

/* The message for a parameter with this value of "in". */
struct gnostic_place {
    const char *in; /* the member "in" of the parameter; NULL: the end of a list */
    const struct gnostic_message *message;
    uint8_t around[GNOSTIC_AROUND_MAX]; /* like gnostic_field.around */
};

extern const struct gnostic_message OPENAPI_GNOSTIC_V2, OPENAPI_GNOSTIC_V3;

#endif
