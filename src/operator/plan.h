/* What the reconcile wants done, as data. The controller does it in this order: remember (the
 * annotations), services, pods and deletions, the status, then the events; so that what is counted
 * is on the job before anything happens because of it. Everything lives in the reconcile's arena.
 */
#ifndef TRAINYARD_OPERATOR_PLAN_H
#define TRAINYARD_OPERATOR_PLAN_H

#include "base/json.h"

enum tfjob_action_type {
    TFJOB_CREATE_SERVICE,
    TFJOB_CREATE_POD,
    TFJOB_DELETE_POD,
    TFJOB_DELETE_SERVICE,
    TFJOB_DELETE_JOB,
};

struct tfjob_action {
    enum tfjob_action_type type;
    const char *name;
    const char *uid;           /* of what is deleted, so that its successor is spared */
    const struct json *object; /* of what is created */
    bool force;                /* delete at once: nobody is left to do it gracefully */
};

struct tfjob_event {
    bool warning;
    bool once; /* said of a state that lasts: not to be repeated while the controller lives */
    const char *reason;
    const char *message;
};

struct tfjob_plan {
    struct arena *arena;
    struct tfjob_action *actions;
    size_t action_count, action_capacity;
    struct tfjob_event *events;
    size_t event_count, event_capacity;
    struct json *annotations;  /* to set on the job (null: take away); NULL: none */
    const struct json *status; /* the new one; NULL: as it is */
    int64_t requeue_ms;        /* look again after so long; -1: when something changes */
};

void tfjob_plan_init(struct tfjob_plan *plan, struct arena *arena);
void tfjob_plan_create(struct tfjob_plan *plan, enum tfjob_action_type type,
                       const struct json *object);
void tfjob_plan_delete(struct tfjob_plan *plan, enum tfjob_action_type type,
                       const struct json *object, bool force);
struct tfjob_event *tfjob_plan_event(struct tfjob_plan *plan, bool warning, const char *reason,
                                     const char *format, ...) __attribute__((format(printf, 4, 5)));
void tfjob_plan_requeue(struct tfjob_plan *plan, int64_t delay_ms); /* the earliest wins */

#endif
