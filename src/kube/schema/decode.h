/* Reading an object as its kind: what a client sent becomes what the API works with. Unknown fields
 * are found, told and dropped; values of the wrong type are refused; and what can be said in more
 * than one way (null and absent, "" and absent, "1024Mi" and "1Gi", a time with an offset) is said
 * in one, the way Kubernetes' own types do, so that equal objects are equal bytes. */
#ifndef TRAINYARD_KUBE_SCHEMA_DECODE_H
#define TRAINYARD_KUBE_SCHEMA_DECODE_H

#include "kube/schema/schema.h"

enum schema_form {
    SCHEMA_FORM_TYPED,      /* one way to say a thing, as above: kinds of Kubernetes */
    SCHEMA_FORM_WRITTEN,    /* values stay as they were written, null is absent: our custom kinds */
    SCHEMA_FORM_STRUCTURAL, /* … and defaults are filled in: from definitions */
};

enum { SCHEMA_MESSAGES_MAX = 20 };

struct schema_messages {
    const char *texts[SCHEMA_MESSAGES_MAX]; /* the first ones, in the arena */
    size_t count;
};

/* A field that no row has: "spec.containers[0].comand", and the name that may have been meant. */
struct schema_unknown {
    const char *path, *meant; /* NULL: none is near */
};

struct schema_report {
    struct schema_unknown unknown[SCHEMA_MESSAGES_MAX]; /* the first ones, in the arena */
    size_t unknown_count;
    /* `spec.containers[0].livenessProbe: not supported here: probes are not run`; a field that is
     * there but empty or false asks for nothing. */
    struct schema_messages unsupported;
};

/* Changes `object` in place. A value of the wrong type is ERR_BAD_REQUEST with the field's path in
 * typed objects, and in everybody's metadata; in others it stays, for validation to find.
 * `ret_report` may be NULL. */
int schema_decode(struct arena *arena, const struct schema_object *type, enum schema_form form,
                  struct json *object, struct schema_report *ret_report, struct err *err);

#endif
