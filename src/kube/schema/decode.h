/* Decodes a JSON tree as an object of its kind. Unknown fields are reported and dropped, values of
 * the wrong type are rejected, and values that can be written in several ways (null and absent, ""
 * and absent, "1024Mi" and "1Gi", a time with an offset) get one form, that of Kubernetes' own
 * types, so that equal objects have equal bytes. */
#ifndef TRAINYARD_KUBE_SCHEMA_DECODE_H
#define TRAINYARD_KUBE_SCHEMA_DECODE_H

#include "kube/schema/schema.h"

enum schema_form {
    SCHEMA_FORM_TYPED,      /* one form for each value, as described above: kinds of Kubernetes */
    SCHEMA_FORM_WRITTEN,    /* values stay as written, null becomes absent: our own custom kinds */
    SCHEMA_FORM_STRUCTURAL, /* like SCHEMA_FORM_WRITTEN, and defaults are filled in: kinds from
                               definitions */
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
    /* Fields without effect here: `spec.containers[0].livenessProbe: not supported here: probes are
     * not run`. A field that is empty or false is not reported. */
    struct schema_messages unsupported;
};

/* Decodes `object` in place. Returns 0, or -ERR_BAD_REQUEST with the field's path for a value of
 * the wrong type. In forms other than SCHEMA_FORM_TYPED only metadata is checked that way; other
 * wrong values stay and are found by validation. `ret_report` may be NULL. */
int schema_decode(struct arena *arena, const struct schema_object *type, enum schema_form form,
                  struct json *object, struct schema_report *ret_report, struct err *err);

#endif
