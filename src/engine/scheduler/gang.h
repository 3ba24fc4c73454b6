/* Which nodes the pods of a PodGroup go to: all that must start together, or none. Pure: the whole
 * group is laid out on a copy of what the nodes have left, and only a layout with enough of them is
 * given out; scheduler_gang_controller.c binds it. Two groups that want the same room can never
 * hold half of it each, since nothing is held that is not a whole group. */
#ifndef TRAINYARD_ENGINE_SCHEDULER_GANG_H
#define TRAINYARD_ENGINE_SCHEDULER_GANG_H

#include "engine/scheduler/scheduler.h"

#define SCHEDULER_GANG_LABEL "scheduling.x-k8s.io/pod-group"

/* A pod that waits for a node. */
struct scheduler_member {
    const struct json *pod;
    const char *node;    /* out: where it goes now; NULL: it waits on */
    const char *message; /* out: what for */
};

struct scheduler_gang {
    const char *name;
    const struct json *group; /* the PodGroup; NULL: there is none */
    size_t placed;            /* members that have a node or have succeeded */
    struct scheduler_member *waiting;
    size_t waiting_count;
};

/* How many start together: spec.minMember, at least 1. */
size_t scheduler_gang_min_member(const struct json *group);

/* Decide on every pod that waits. Where as many are placed as must be, each is decided on for
 * itself. The same state gives the same choice, whatever the order of the nodes. */
void scheduler_gang_decide(struct arena *arena, struct scheduler_gang *gang,
                           const struct scheduler_view *view);

#endif
