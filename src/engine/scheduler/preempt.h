/* Chooses the pods of lower priority that must be deleted so that a pod gets a node. Pure;
 * preempt_controller.c deletes them. */
#ifndef TRAINYARD_ENGINE_SCHEDULER_PREEMPT_H
#define TRAINYARD_ENGINE_SCHEDULER_PREEMPT_H

#include "engine/scheduler/scheduler.h"

struct scheduler_preemption {
    const char *node;            /* the node to clear; NULL: preemption does not help */
    const struct json **victims; /* empty if enough pods are being deleted already */
    size_t count;
    const char *message; /* why preemption does not help: "preemption: …" */
};

/* Returns spec.priority of the pod, or 0. */
int64_t scheduler_priority(const struct json *pod);

/* Sets *ret to the node to clear and its victims, or to a message. `rejections` come from
 * scheduler_pick(), which found no node. For each node, chooses victims of which none can be
 * spared; pods with a higher priority are spared first. Then chooses a node without victims, or
 * else the node whose most important victim has the lowest priority. On a tie, chooses the node
 * with the lower sum of priorities, then fewer victims, then the node whose most important victim
 * started later, then the first node by name. */
void scheduler_preempt(struct arena *arena, const struct json *pod,
                       const struct scheduler_view *view,
                       const struct scheduler_rejection *rejections,
                       struct scheduler_preemption *ret);

#endif
