/* What a DELETE does to an object: gone at once, or marked and waiting for its node or its
 * finalizers. Pure; rest_delete.c acts on it. */
#ifndef TRAINYARD_ENGINE_DELETION_H
#define TRAINYARD_ENGINE_DELETION_H

#include "base/json/json.h"
#include "engine/kinds/registry.h"

enum deletion_propagation {
    PROPAGATION_DEFAULT, /* background, or as the object's own finalizers already say */
    PROPAGATION_BACKGROUND,
    PROPAGATION_FOREGROUND,
    PROPAGATION_ORPHAN,
};

/* metav1.DeleteOptions, as far as they are honoured. */
struct deletion_options {
    int64_t grace_seconds; /* -1: the object's own */
    enum deletion_propagation propagation;
    const char *uid, *resource_version; /* preconditions, or NULL */
    bool dry_run;
};

/* From the body (NULL: none) or, where that says nothing, from the query. What is wrong with their
 * values is told in `invalid`, and the result is ERR_INVALID. */
int deletion_options_parse(struct field_errors *invalid, const struct json *body, const char *query,
                           struct deletion_options *ret, struct err *err);

enum deletion_step {
    DELETION_REMOVE, /* nothing holds it: remove it */
    DELETION_MARK,   /* it changed: store it */
    DELETION_KEEP,   /* it was marked before and nothing new is asked */
};

/* Edits `object` into its marked form. */
enum deletion_step deletion_decide(struct arena *arena, const struct kube_kind *resource,
                                   struct json *object, const struct deletion_options *options,
                                   int64_t now_ms);

#endif
