/* Which less important pods must go so that a pod finds room. Pure: scheduler_preempt_controller.c
 * deletes them. */
#ifndef TRAINYARD_ENGINE_SCHEDULER_PREEMPT_H
#define TRAINYARD_ENGINE_SCHEDULER_PREEMPT_H

#include "engine/scheduler/scheduler.h"

struct scheduler_preemption {
    const char *node;            /* that is to be made free; NULL: none can be */
    const struct json **victims; /* none where enough are on their way out already */
    size_t count;
    const char *message; /* why not: "preemption: …" */
};

int64_t scheduler_priority(const struct json *pod);

/* `rejections` are those of the choice that found no node. On a node as few as possible go, the
 * least important first; of the nodes the one whose victims matter least is taken. */
void scheduler_preempt(struct arena *arena, const struct json *pod,
                       const struct scheduler_view *view,
                       const struct scheduler_rejection *rejections,
                       struct scheduler_preemption *ret);

#endif
