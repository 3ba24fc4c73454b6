/* Decides whether a DELETE removes an object at once or marks it with a deletionTimestamp. A marked
 * object stays until its containers have stopped and it has no finalizers. delete.c and evict.c
 * call these functions. Pure. */
#ifndef TRAINYARD_ENGINE_API_DELETION_H
#define TRAINYARD_ENGINE_API_DELETION_H

#include "base/json/json.h"
#include "engine/kinds/registry.h"

/* How the garbage collector handles the dependents: the objects that the object owns. */
enum deletion_propagation {
    /* Orphan or foreground, if the object has the finalizer "orphan" or "foregroundDeletion";
     * otherwise background. */
    PROPAGATION_DEFAULT,
    PROPAGATION_BACKGROUND, /* deletes them after the object */
    PROPAGATION_FOREGROUND, /* deletes them before the object */
    PROPAGATION_ORPHAN,     /* keeps them */
};

/* The fields of metav1.DeleteOptions that have an effect. */
struct deletion_options {
    int64_t grace_seconds; /* -1: the default of the object */
    enum deletion_propagation propagation;
    const char *uid;              /* delete only an object with this uid; NULL: any */
    const char *resource_version; /* delete only this version of the object; NULL: any */
    bool dry_run;
};

/* Reads the options from the body, which may be NULL. Reads the grace period and the propagation
 * from the query if the body does not set them. Returns -ERR_BAD_REQUEST if the grace period in the
 * query is not a number, or -ERR_INVALID with the reasons in `invalid` if other values are wrong.
 * The strings of *ret belong to `body`. */
int deletion_options_parse(struct field_errors *invalid, const struct json *body, const char *query,
                           struct deletion_options *ret, struct err *err);

enum deletion_step {
    DELETION_REMOVE, /* remove the object from the store */
    DELETION_MARK,   /* store the edited object */
    DELETION_KEEP,   /* do nothing: the object was marked before and has not changed */
};

/* Edits `object` and returns what the caller must do with it. */
enum deletion_step deletion_decide(struct arena *arena, const struct kube_kind *resource,
                                   struct json *object, const struct deletion_options *options,
                                   int64_t now_ms);

#endif
