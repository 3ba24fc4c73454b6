/* Places the waiting pods of a PodGroup. While fewer than spec.minMember pods have a node, places
 * enough pods for spec.minMember at the same time, or none. After that, places each pod separately.
 * Works on a copy of the free resources. Only a placement with enough members is returned, and only
 * for such a placement gang_controller.c reserves resources and binds pods. So two groups never
 * block each other by each holding half of the resources. Pure. */
#ifndef TRAINYARD_ENGINE_SCHEDULER_GANG_H
#define TRAINYARD_ENGINE_SCHEDULER_GANG_H

#include "engine/scheduler/scheduler.h"

#define SCHEDULER_GANG_LABEL "scheduling.x-k8s.io/pod-group"

/* A member of the group that has no node: a waiting member. */
struct scheduler_member {
    const struct json *pod;
    const char *node;    /* out: the pod's new node; NULL: the pod still waits */
    const char *message; /* out: why the pod waits */
};

struct scheduler_gang {
    const char *name;
    const struct json *group; /* the PodGroup; NULL: it does not exist */
    size_t placed;            /* members that have a node, are assumed on one, or have succeeded */
    struct scheduler_member *waiting; /* `node` and `message` are set by the decision */
    size_t waiting_count;
};

/* Returns the number of members that must start together: spec.minMember, at least 1. */
size_t scheduler_gang_min_member(const struct json *group);

/* Returns whether scheduler_depends_on_pods() is true for a waiting member. */
bool scheduler_gang_depends_on_pods(const struct scheduler_gang *gang);

/* Fills in `node` or `message` of every waiting member. If enough members have a node already, each
 * waiting member is placed separately. The order of the nodes in the view has an effect only if
 * gang.c must search with backtracking. The view must contain the placed pods if
 * scheduler_gang_depends_on_pods() or if a placed pod has pod affinity. */
void scheduler_gang_decide(struct arena *arena, struct scheduler_gang *gang,
                           const struct scheduler_view *view);

#endif
