/* What an object looks like: which fields it has, of which type, and what holds for each. There is
 * one description for the kinds built in (constant tables in kube/types/) and for custom resources
 * (made from their definition), and everything that must know the shape of an object reads it here:
 * strict decoding, defaults, validation, pruning, the merge keys of patches, who owns which field,
 * protobuf, OpenAPI. Descriptions are constant and outlive the objects they are asked about. */
#ifndef TRAINYARD_KUBE_SCHEMA_H
#define TRAINYARD_KUBE_SCHEMA_H

#include "base/json/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum schema_type {
    SCHEMA_ANY, /* whatever JSON there is, kept as it is */
    SCHEMA_STRING,
    SCHEMA_BOOL,
    SCHEMA_INT32,
    SCHEMA_INT64,
    SCHEMA_NUMBER,
    SCHEMA_BYTES,         /* base64 */
    SCHEMA_QUANTITY,      /* "500m", "1Gi"; a number is taken, too */
    SCHEMA_INT_OR_STRING, /* 80, "http", "25%" */
    SCHEMA_TIME,          /* RFC 3339 to the second */
    SCHEMA_MICRO_TIME,    /* … to the microsecond */
    SCHEMA_OBJECT,        /* known fields: `object` */
    SCHEMA_MAP,           /* any names, values as `items` says */
    SCHEMA_LIST,          /* elements as `items` says */
};

struct schema_field;
struct schema_rules; /* limits of values; schema_rules.h */

/* An object type. One that has a name is a definition of its own in OpenAPI. */
struct schema_object {
    const char *name; /* "io.k8s.api.core.v1.Container"; NULL: stands where it is used */
    const char *doc;  /* a sentence, or NULL */
    const struct schema_field *fields; /* ends with name NULL */
    bool atomic;                       /* applied and owned as a whole */
    bool preserve;                     /* unknown fields are kept */
    bool embedded;                     /* a whole object with apiVersion, kind and metadata */
    /* The fields sorted by name, for a binary search: a custom resource may have tens of thousands.
     * NULL for a built-in type, whose few fields are searched one by one. */
    const struct schema_field *const *sorted;
    size_t count; /* the number of fields in `sorted` */
};

/* One value. */
struct schema {
    enum schema_type type;
    const struct schema_object *object; /* of SCHEMA_OBJECT, and of SCHEMA_ANY that has a name */
    const struct schema *items;         /* of SCHEMA_LIST and SCHEMA_MAP */

    /* Lists: their elements are told apart by these fields (ends with NULL), or where `set`, by
     * their values; any other list, and a map or object where `atomic`, is owned as a whole. */
    const char *const *keys;
    bool set, atomic;
    /* What a strategic merge patch does: merges a list's elements by this field, or where it is
     * "", as plain values (NULL: replaces the list); retain: leaves only the members the patch
     * names. */
    const char *merge_key;
    bool retain;

    bool nullable;                    /* null is a value and stays */
    const struct schema_rules *rules; /* NULL: none */
};

/* How the API writes a field that nobody set, and one that is set to nought. */
enum schema_presence {
    PRESENCE_IF_ANY, /* nought is as good as absent: "", 0, false and empty lists are left out */
    PRESENCE_IF_SET, /* absent is one thing, nought another */
    PRESENCE_ALWAYS, /* written as nought where absent: "resources":{} */
};

struct schema_field {
    const char *name;
    const char *doc; /* a sentence without capital and full stop, or NULL */
    struct schema value;
    /* In protobuf; 0: not read from there. A field that JSON has here, but protobuf in a message of
     * its own, has that one's number, too: SCHEMA_INSIDE(). */
    uint32_t number;
    enum schema_presence presence;
    bool required;
    const char *fallback;    /* the default, as JSON text; NULL: none */
    const char *unsupported; /* why nothing comes of it here, for a sentence; NULL: it works */
};

#define SCHEMA_INSIDE(outer_, number_) ((uint32_t)(outer_) << 16 | (number_))

/* NULL for a name the type has not. */
const struct schema_field *schema_field(const struct schema_object *object, const char *name);

/* Whether the rules of its fields belong into the schema of a custom resource. Kubernetes' own
 * types have no rules there: the pod is judged as a whole, after a controller has completed it. */
bool schema_has_rules(const struct schema_object *object);

#endif
