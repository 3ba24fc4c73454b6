/* The group below which all pods of this cluster have theirs, one in each hierarchy of use:
 * trainyard-<id of the state directory>. Control makes it before anything else is started, knows
 * what the machine refused, and removes what nobody lives in any more. Where groups were ever made
 * is kept in <state>/run/cgroups, because the next `up` may begin in another place. */
#ifndef TRAINYARD_NODE_LIMITS_CGROUP_BASE_H
#define TRAINYARD_NODE_LIMITS_CGROUP_BASE_H

#include "node/limits/cgroup.h"

struct cgroup_base {
    struct arena *arena;
    struct cgroup_trees trees; /* empty where the machine allows none */
    const char *earlier;       /* the record of where groups were made before */
    bool privileged;
};

/* Never fails: what the machine does not allow is not in the trees. */
struct cgroup_base *cgroup_base_open(const char *state_dir, bool privileged);
struct cgroup_base *cgroup_base_free(struct cgroup_base *base);
/* A copy for another thread, in the arena's memory: nothing to free. */
void cgroup_base_copy(struct arena *arena, const struct cgroup_base *base, struct cgroup_base *ret);

/* In version 2 a group has either processes or groups with controllers below it. In one that was
 * delegated to us we may be what is in the way: move what runs this program into a group beside
 * those of the pods. True if nothing is in the way (any more). */
bool cgroup_base_step_aside(const char *state_dir, const char *parent);

/* Remove the groups of pods that are not known, of this life and of earlier ones. */
typedef bool cgroup_base_knows(void *context, const char *uid);
void cgroup_base_sweep(const char *state_dir, const struct cgroup_base *base,
                       cgroup_base_knows *knows, void *context);
/* Remove all groups this state directory ever had. */
int cgroup_base_destroy(const char *state_dir, struct err *err);

/* Say where the groups of a pod are to be made, and remove those a killed supervisor left, wherever
 * it lived: the directory of the pod, which would name the place, may be lost. */
int cgroup_base_place_pod(const struct cgroup_base *base, const char *pod_directory,
                          const char *uid, struct err *err);
void cgroup_base_remove_pod(const char *pod_directory);

/* What is to be done so that limits hold on this machine. */
const char *cgroup_base_advice(const struct cgroup_base *base);

#endif
