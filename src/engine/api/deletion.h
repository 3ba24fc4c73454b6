/* Decides whether a DELETE removes an object at once, or marks it as deleted until its node and its
 * finalizers are done. Pure; delete.c acts on it. */
#ifndef TRAINYARD_ENGINE_API_DELETION_H
#define TRAINYARD_ENGINE_API_DELETION_H

#include "base/json/json.h"
#include "engine/kinds/registry.h"

enum deletion_propagation {
    PROPAGATION_DEFAULT, /* background, or what the object's finalizers say already */
    PROPAGATION_BACKGROUND,
    PROPAGATION_FOREGROUND,
    PROPAGATION_ORPHAN,
};

/* The fields of metav1.DeleteOptions that have an effect. */
struct deletion_options {
    int64_t grace_seconds; /* -1: the default of the object */
    enum deletion_propagation propagation;
    const char *uid, *resource_version; /* preconditions, or NULL */
    bool dry_run;
};

/* Reads the options from the body (NULL: none) or, where the body does not set them, from the
 * query. Returns -ERR_INVALID with the reasons in `invalid` if values are wrong. */
int deletion_options_parse(struct field_errors *invalid, const struct json *body, const char *query,
                           struct deletion_options *ret, struct err *err);

enum deletion_step {
    DELETION_REMOVE, /* nothing keeps it: remove it */
    DELETION_MARK,   /* it changed: store it */
    DELETION_KEEP,   /* it was marked before, and the request asks for nothing new */
};

/* Edits `object` into its marked form for DELETION_MARK. */
enum deletion_step deletion_decide(struct arena *arena, const struct kube_kind *resource,
                                   struct json *object, const struct deletion_options *options,
                                   int64_t now_ms);

#endif
