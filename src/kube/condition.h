/* Reads and writes the conditions of an object: the list status.conditions, in which each type
 * occurs at most once. Controllers, nodes, the scheduler and the API server write conditions with
 * kube_condition_set(), each with its own rules. Pure. */
#ifndef TRAINYARD_KUBE_CONDITION_H
#define TRAINYARD_KUBE_CONDITION_H

#include "base/json/json.h"

/* The condition to write. */
struct kube_condition {
    const char *type;
    const char *status;  /* "True", "False" or "Unknown" */
    const char *reason;  /* NULL: the condition has none */
    const char *message; /* NULL: the condition has none */
    /* A further member that is set to now_ms, such as "lastUpdateTime"; NULL: none. */
    const char *time_name;
    int64_t now_ms; /* wall time of the change; -1: no time is written */
};

/* Without any rule, a condition of the same type is changed in place, and its members that are not
 * in struct kube_condition stay. lastTransitionTime becomes now_ms only if the status changes, the
 * condition is new or it had no lastTransitionTime. */
enum kube_condition_rule {
    /* Nothing is written if the status is the same. */
    KUBE_CONDITION_KEEP_STATUS = 1 << 0,
    /* Nothing is written if the status and the reason are the same. */
    KUBE_CONDITION_KEEP_REASON = 1 << 1,
    /* A condition that is written becomes the last of the list and loses its other members. */
    KUBE_CONDITION_MOVE_LAST = 1 << 2,
    /* lastTransitionTime becomes now_ms even if the status is the same. */
    KUBE_CONDITION_RESET_TRANSITION = 1 << 3,
};

/* Writes `wanted` into the list `conditions`, which must be writable. Returns the condition in the
 * list, or NULL if a KEEP rule left the list as it was. */
struct json *kube_condition_set(struct arena *arena, struct json *conditions,
                                const struct kube_condition *wanted, unsigned rules);

/* Returns the condition of that type in the list `conditions`, or NULL. */
struct json *kube_condition_find(const struct json *conditions, const char *type);

/* Returns the condition of that type in status.conditions of an object, or NULL. */
struct json *kube_condition_get(const struct json *object, const char *type);
/* Returns whether the object has the condition with status "True". */
bool kube_condition_is_true(const struct json *object, const char *type);

#endif
