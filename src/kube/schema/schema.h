/* The schema of an object: its fields, their types and their rules. Schemas of built-in kinds are
 * constant tables in kube/types/. Schemas of custom resources are compiled from their definitions.
 * Decoding, defaults, validation, pruning, patches, field ownership, protobuf and OpenAPI all use
 * these schemas. A schema is constant and outlives the objects of its kind. */
#ifndef TRAINYARD_KUBE_SCHEMA_SCHEMA_H
#define TRAINYARD_KUBE_SCHEMA_SCHEMA_H

#include "base/json/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum schema_type {
    SCHEMA_ANY, /* any JSON value, kept unchanged */
    SCHEMA_STRING,
    SCHEMA_BOOL,
    SCHEMA_INT32,
    SCHEMA_INT64,
    SCHEMA_NUMBER,
    SCHEMA_BYTES,         /* base64 */
    SCHEMA_QUANTITY,      /* "500m", "1Gi"; a JSON number is also accepted */
    SCHEMA_INT_OR_STRING, /* 80, "http", "25%" */
    SCHEMA_TIME,          /* RFC 3339 to the second */
    SCHEMA_MICRO_TIME,    /* RFC 3339 to the microsecond */
    SCHEMA_OBJECT,        /* an object with the fields of schema.object */
    SCHEMA_MAP,           /* an object with any names; schema.items is the schema of the values */
    SCHEMA_LIST,          /* a list; schema.items is the schema of the elements */
};

struct schema_field;
struct schema_rules; /* limits of a value; schema/rules.h */

/* An object type. A type with a name becomes a separate definition in OpenAPI. */
struct schema_object {
    const char *name;                  /* "io.k8s.api.core.v1.Container"; NULL: an anonymous type */
    const char *doc;                   /* the description for `kubectl explain`, or NULL */
    const struct schema_field *fields; /* the last entry has the name NULL */
    bool atomic;                       /* server-side apply treats the object as one value */
    bool checked;  /* a named type of a custom resource whose rules apply; see schema_has_rules() */
    bool preserve; /* unknown fields are kept (x-kubernetes-preserve-unknown-fields) */
    bool embedded; /* a complete API object with apiVersion, kind and metadata */
    /* The fields sorted by name, for binary search, because a custom resource may have tens of
     * thousands of fields. NULL for a built-in type, whose few fields are searched in order. */
    const struct schema_field *const *sorted;
    size_t count; /* the number of fields in `sorted` */
};

/* The schema of one value. */
struct schema {
    enum schema_type type;
    /* The fields of SCHEMA_OBJECT. With SCHEMA_ANY: a type that is only shown in OpenAPI, or the
     * fields of an object in a part of allOf, anyOf, oneOf or not. */
    const struct schema_object *object;
    /* The schema of the elements of SCHEMA_LIST, or of the values of SCHEMA_MAP. With SCHEMA_ANY:
     * the schema of the elements of a list in a part of allOf, anyOf, oneOf or not. */
    const struct schema *items;

    /* The identity of list elements for server-side apply. `keys` (NULL-terminated) are the fields
     * that identify an element. With `set`, the value of an element identifies it. A list without
     * `keys` and `set` is owned as a whole. A map or an object with `atomic` is also owned as a
     * whole. */
    const char *const *keys;
    bool set, atomic;
    /* For strategic merge patches: list elements are merged by the field `merge_key`. "": the
     * elements are plain values. NULL: the patch replaces the list. */
    const char *merge_key;
    /* Tells clients in OpenAPI to send $retainKeys in a strategic merge patch. The server itself
     * does not use it. */
    bool retain;

    bool nullable;                    /* null is a valid value and is kept */
    const struct schema_rules *rules; /* NULL: no rules */
};

/* How the API server writes a field that is absent or has its zero value. */
enum schema_presence {
    PRESENCE_IF_ANY, /* "", 0, false, and an empty list, map or object are left out */
    PRESENCE_IF_SET, /* an absent field is left out, a zero value is written */
    PRESENCE_ALWAYS, /* an absent field is written with its zero value: "resources":{} */
};

struct schema_field {
    const char *name;
    const char *doc; /* the description for `kubectl explain`, or NULL */
    struct schema value;
    /* The field number in protobuf; 0: the field is not read from protobuf. For a field that
     * protobuf has in an inner message: SCHEMA_INSIDE(number of the inner message, number of the
     * field). */
    uint32_t number;
    enum schema_presence presence;
    bool required;
    const char *fallback;    /* the default value as JSON text; NULL: none */
    const char *unsupported; /* why the field has no effect; NULL: the field is supported */
};

#define SCHEMA_INSIDE(outer_, number_) ((uint32_t)(outer_) << 16 | (number_))

/* Returns the field with that name, or NULL. */
const struct schema_field *schema_field(const struct schema_object *object, const char *name);

/* Returns whether the rules of the type's fields are checked in custom resources and written into
 * their CustomResourceDefinition. False for types of Kubernetes, such as the pod template in a
 * TFJob: the pod is validated when a controller creates it. */
bool schema_has_rules(const struct schema_object *object);

#endif
