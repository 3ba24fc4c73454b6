/* Places the pods of a PodGroup: at least spec.minMember of them at the same time, or none. Pure:
 * it places the whole group on a copy of the free resources and returns only a placement with
 * enough members. gang_controller.c binds the pods. Two groups can never block each other by each
 * having half of the resources, because resources are reserved only for whole groups. */
#ifndef TRAINYARD_ENGINE_SCHEDULER_GANG_H
#define TRAINYARD_ENGINE_SCHEDULER_GANG_H

#include "engine/scheduler/scheduler.h"

#define SCHEDULER_GANG_LABEL "scheduling.x-k8s.io/pod-group"

/* A pod of the group that has no node. */
struct scheduler_member {
    const struct json *pod;
    const char *node;    /* out: the pod's new node; NULL: the pod still waits */
    const char *message; /* out: why the pod waits */
};

struct scheduler_gang {
    const char *name;
    const struct json *group; /* the PodGroup; NULL: it does not exist */
    size_t placed;            /* members that have a node or have succeeded */
    struct scheduler_member *waiting;
    size_t waiting_count;
};

/* Returns the number of members that must start together: spec.minMember, at least 1. */
size_t scheduler_gang_min_member(const struct json *group);

/* Fills in `node` or `message` of every waiting pod. If enough members have a node already, each
 * waiting pod is placed separately. The result depends on the order of the nodes only if the search
 * in gang.c was necessary. */
void scheduler_gang_decide(struct arena *arena, struct scheduler_gang *gang,
                           const struct scheduler_view *view);

#endif
