/* Decides whether a DELETE removes an object at once, or marks it with a deletionTimestamp until
 * its containers have stopped and it has no finalizers. Pure. */
#ifndef TRAINYARD_ENGINE_API_DELETION_H
#define TRAINYARD_ENGINE_API_DELETION_H

#include "base/json/json.h"
#include "engine/kinds/registry.h"

enum deletion_propagation {
    /* Orphan or foreground, if the object has the finalizer "orphan" or "foregroundDeletion";
     * otherwise background. */
    PROPAGATION_DEFAULT,
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

/* Reads the options from the body. Reads the grace period and the propagation from the query if
 * the body does not set them. `body` may be NULL. Returns -ERR_INVALID with the reasons in
 * `invalid` if values are wrong. */
int deletion_options_parse(struct field_errors *invalid, const struct json *body, const char *query,
                           struct deletion_options *ret, struct err *err);

enum deletion_step {
    DELETION_REMOVE, /* remove the object */
    DELETION_MARK,   /* the object has changed: store it */
    DELETION_KEEP,   /* the object is marked already and has not changed */
};

/* Edits `object`. If it returns DELETION_MARK, the caller must store `object`. */
enum deletion_step deletion_decide(struct arena *arena, const struct kube_kind *resource,
                                   struct json *object, const struct deletion_options *options,
                                   int64_t now_ms);

#endif
