/* Decodes a JSON tree as an object of its kind. Reports and drops unknown fields, and rejects
 * values of the wrong type. Some values can be written in several ways: null and absent, "" and
 * absent, "1024Mi" and "1Gi", a time with an offset. Decoding converts them to the canonical form
 * of Kubernetes, so that equal objects have equal bytes. */
#ifndef TRAINYARD_KUBE_SCHEMA_DECODE_H
#define TRAINYARD_KUBE_SCHEMA_DECODE_H

#include "kube/schema/schema.h"

enum schema_form {
    SCHEMA_FORM_TYPED,      /* values get their canonical form: kinds of Kubernetes */
    SCHEMA_FORM_WRITTEN,    /* values stay as written, but null becomes absent if it is not allowed:
                               Trainyard's kinds */
    SCHEMA_FORM_STRUCTURAL, /* decoded like WRITTEN, but the API server sets defaults afterwards:
                               custom resources */
};

enum { SCHEMA_MESSAGES_MAX = 20 };

struct schema_messages {
    const char *texts[SCHEMA_MESSAGES_MAX]; /* the first messages, in the arena */
    size_t count;
};

/* An unknown field. */
struct schema_unknown {
    const char *path,
        *meant; /* path: "spec.containers[0].comand"; meant: the similar known name, or NULL */
};

struct schema_report {
    struct schema_unknown unknown[SCHEMA_MESSAGES_MAX]; /* the first unknown fields, in the arena */
    size_t unknown_count;
    /* Messages about fields that have no effect in this server: `spec.containers[0].livenessProbe:
     * not supported here: probes are not run`. A field that is empty or false is not reported. */
    struct schema_messages unsupported;
};

/* Decodes `object` in place. Returns 0, or -ERR_BAD_REQUEST with the path of the field if a value
 * has the wrong type. In forms other than SCHEMA_FORM_TYPED, only the types in metadata are
 * checked; validation finds other wrong types. `ret_report` may be NULL. */
int schema_decode(struct arena *arena, const struct schema_object *type, enum schema_form form,
                  struct json *object, struct schema_report *ret_report, struct err *err);

#endif
