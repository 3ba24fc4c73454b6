/* Decodes a JSON tree as an object of its kind. Drops each null that the schema does not allow.
 * Reports and drops unknown fields, unless their type preserves them. In objects of Kubernetes'
 * kinds, also rejects values of the wrong type and converts values to Kubernetes' canonical form,
 * so that equal objects have equal bytes: "1024Mi" becomes "1Gi", a time loses its offset, and enum
 * schema_presence decides whether a zero value is written. */
#ifndef TRAINYARD_KUBE_SCHEMA_DECODE_H
#define TRAINYARD_KUBE_SCHEMA_DECODE_H

#include "kube/schema/schema.h"

enum schema_form {
    SCHEMA_FORM_TYPED,   /* kinds of Kubernetes: values get their canonical form */
    SCHEMA_FORM_WRITTEN, /* kinds of Trainyard and PodGroups: values stay as the client wrote them,
                            but a null that the schema does not allow is dropped; the API server
                            sets no defaults */
    SCHEMA_FORM_STRUCTURAL, /* kinds of CustomResourceDefinitions: decoded like SCHEMA_FORM_WRITTEN,
                               but the API server sets defaults afterwards */
};

enum { SCHEMA_MESSAGES_MAX = 20 }; /* messages of one kind per object; further ones are dropped */

struct schema_messages {
    const char *texts[SCHEMA_MESSAGES_MAX]; /* the first messages, in the arena */
    size_t count;
};

/* An unknown field. */
struct schema_unknown {
    const char *path;  /* "spec.containers[0].comand" */
    const char *meant; /* the similar known name, "command"; NULL: none is similar */
};

struct schema_report {
    struct schema_unknown unknown[SCHEMA_MESSAGES_MAX]; /* the first unknown fields, in the arena */
    size_t unknown_count;
    /* Messages about fields that have no effect in this server: `spec.containers[0].livenessProbe:
     * not supported here: probes are not run`. A field that is empty or false is not reported, but
     * an integer 0 is. */
    struct schema_messages unsupported;
};

/* Decodes `object` in place. Returns 0, or -ERR_BAD_REQUEST with the path of the field if a value
 * has the wrong type or is, for example, not a valid quantity or time. In all forms except
 * SCHEMA_FORM_TYPED, only the object's metadata is checked; validation finds other wrong values.
 * After a failure, `object` may be partly decoded. `ret_report` may be NULL. */
int schema_decode(struct arena *arena, const struct schema_object *type, enum schema_form form,
                  struct json *object, struct schema_report *ret_report, struct err *err);

#endif
