/* Places the pods of a PodGroup: as many as must start together, or none. Pure: it places the whole
 * group on a copy of the free resources and gives out only a placement with enough members;
 * gang_controller.c binds them. Two groups that want the same resources can never hold half of them
 * each, because the scheduler holds resources only for whole groups. */
#ifndef TRAINYARD_ENGINE_SCHEDULER_GANG_H
#define TRAINYARD_ENGINE_SCHEDULER_GANG_H

#include "engine/scheduler/scheduler.h"

#define SCHEDULER_GANG_LABEL "scheduling.x-k8s.io/pod-group"

/* A pod of the group that has no node. */
struct scheduler_member {
    const struct json *pod;
    const char *node;    /* out: the node that it gets now; NULL: it still waits */
    const char *message; /* out: why it waits */
};

struct scheduler_gang {
    const char *name;
    const struct json *group; /* the PodGroup; NULL: it does not exist */
    size_t placed;            /* members that have a node or have succeeded */
    struct scheduler_member *waiting;
    size_t waiting_count;
};

/* The number of members that must start together: spec.minMember, at least 1. */
size_t scheduler_gang_min_member(const struct json *group);

/* Decides on every waiting pod. If enough members have a node already, each pod is decided on by
 * itself. The same state gives the same result, whatever the order of the nodes is. */
void scheduler_gang_decide(struct arena *arena, struct scheduler_gang *gang,
                           const struct scheduler_view *view);

#endif
