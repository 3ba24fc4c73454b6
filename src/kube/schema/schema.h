/* The description of an object: its fields, their types and their rules. The same description
 * serves built-in kinds (constant tables in kube/types/) and custom resources (compiled from their
 * definition). Strict decoding, defaults, validation, pruning, the merge keys of patches, field
 * ownership, protobuf and OpenAPI all read it. Descriptions are constant and outlive the objects
 * they describe. */
#ifndef TRAINYARD_KUBE_SCHEMA_SCHEMA_H
#define TRAINYARD_KUBE_SCHEMA_SCHEMA_H

#include "base/json/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum schema_type {
    SCHEMA_ANY, /* any JSON value, kept as it is */
    SCHEMA_STRING,
    SCHEMA_BOOL,
    SCHEMA_INT32,
    SCHEMA_INT64,
    SCHEMA_NUMBER,
    SCHEMA_BYTES,         /* base64 */
    SCHEMA_QUANTITY,      /* "500m", "1Gi"; a JSON number is accepted too */
    SCHEMA_INT_OR_STRING, /* 80, "http", "25%" */
    SCHEMA_TIME,          /* RFC 3339 to the second */
    SCHEMA_MICRO_TIME,    /* RFC 3339 to the microsecond */
    SCHEMA_OBJECT,        /* an object with known fields: `object` */
    SCHEMA_MAP,           /* an object with any names; `items` describes the values */
    SCHEMA_LIST,          /* a list; `items` describes the elements */
};

struct schema_field;
struct schema_rules; /* limits of a value; schema/rules.h */

/* An object type. A type with a name becomes a definition of its own in OpenAPI. */
struct schema_object {
    const char *name;                  /* "io.k8s.api.core.v1.Container"; NULL: an anonymous type */
    const char *doc;                   /* a sentence for `kubectl explain`, or NULL */
    const struct schema_field *fields; /* the last entry has the name NULL */
    bool atomic;                       /* server-side apply treats the object as one value */
    bool checked;                      /* a type of a custom resource, see schema_has_rules() */
    bool preserve; /* unknown fields are kept (x-kubernetes-preserve-unknown-fields) */
    bool embedded; /* a complete API object with apiVersion, kind and metadata */
    /* The fields sorted by name, for binary search: a custom resource may have tens of thousands.
     * NULL for a built-in type, whose few fields are searched in order. */
    const struct schema_field *const *sorted;
    size_t count; /* the number of fields in `sorted` */
};

/* The description of one value. */
struct schema {
    enum schema_type type;
    const struct schema_object *object; /* for SCHEMA_OBJECT, and for a named SCHEMA_ANY */
    const struct schema *items;         /* for SCHEMA_LIST and SCHEMA_MAP */

    /* The identity of list elements for server-side apply: these fields (ends with NULL), or with
     * `set` the element's value. A list with neither is owned as a whole, and so is a map or an
     * object with `atomic`. */
    const char *const *keys;
    bool set, atomic;
    /* For strategic merge patches. merge_key: the field that list elements are merged by; "":
     * elements are plain values; NULL: the patch replaces the list. retain: only the members that
     * the patch names are kept. */
    const char *merge_key;
    bool retain;

    bool nullable;                    /* null is a valid value and is kept */
    const struct schema_rules *rules; /* NULL: none */
};

/* How the API writes a field that is absent or has its zero value. */
enum schema_presence {
    PRESENCE_IF_ANY, /* the zero values "", 0, false and the empty list are left out */
    PRESENCE_IF_SET, /* an absent field is left out, a zero value is written */
    PRESENCE_ALWAYS, /* an absent field is written with its zero value: "resources":{} */
};

struct schema_field {
    const char *name;
    const char *doc; /* a sentence without capital and full stop, or NULL */
    struct schema value;
    /* The field's number in protobuf; 0: the field is not read from protobuf. SCHEMA_INSIDE() gives
     * the number of a field that protobuf keeps in an inner message. */
    uint32_t number;
    enum schema_presence presence;
    bool required;
    const char *fallback;    /* the default value as JSON text; NULL: none */
    const char *unsupported; /* why the field has no effect here, as part of a sentence; NULL: it is
                                supported */
};

#define SCHEMA_INSIDE(outer_, number_) ((uint32_t)(outer_) << 16 | (number_))

/* Returns the field of that name, or NULL. */
const struct schema_field *schema_field(const struct schema_object *object, const char *name);

/* Returns whether the rules of the type's fields belong into the schema of a custom resource. Types
 * of Kubernetes have none there: a pod is validated as a whole, after a controller has completed
 * it. */
bool schema_has_rules(const struct schema_object *object);

#endif
