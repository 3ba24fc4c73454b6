/* The group below which all pods of this cluster have theirs, one per useful hierarchy:
 * trainyard-<number of the state directory>. The control process creates it before it starts
 * anything else, knows what the machine refused, and removes groups without processes.
 * <state>/run/cgroups records where groups were ever created, because the next `up` may start in
 * another place. */
#ifndef TRAINYARD_NODE_LIMITS_CGROUP_BASE_H
#define TRAINYARD_NODE_LIMITS_CGROUP_BASE_H

#include "node/limits/cgroup.h"

struct cgroup_base {
    struct arena *arena;
    struct cgroup_trees trees; /* empty if the machine allows none */
    const char *earlier;       /* the record of places of earlier runs */
    bool privileged;
};

/* Never fails: hierarchies that the machine does not allow are left out. */
struct cgroup_base *cgroup_base_open(const char *state_dir, bool privileged);
struct cgroup_base *cgroup_base_free(struct cgroup_base *base);
/* Makes a copy for another thread in the arena's memory; nothing has to be freed. */
void cgroup_base_copy(struct arena *arena, const struct cgroup_base *base, struct cgroup_base *ret);

/* In version 2 a group has either processes or child groups with controllers. In a group that was
 * delegated to this user, trainyard's own processes may be in the way: moves them into a group
 * beside those of the pods. Returns true if no process is in the way (any more). */
bool cgroup_base_step_aside(const char *state_dir, const char *parent);

/* Removes the groups of unknown pods, of this run and of earlier ones. */
typedef bool cgroup_base_knows(void *context, const char *uid);
void cgroup_base_sweep(const char *state_dir, const struct cgroup_base *base,
                       cgroup_base_knows *knows, void *context);
/* Removes all groups that this state directory ever had. */
int cgroup_base_destroy(const char *state_dir, struct err *err);

/* Records where the groups of a pod will be created, and removes groups of that pod that a killed
 * supervisor left, in all known places: the pod's directory, which would name the place, may be
 * lost. */
int cgroup_base_place_pod(const struct cgroup_base *base, const char *pod_directory,
                          const char *uid, struct err *err);
void cgroup_base_remove_pod(const char *pod_directory);

/* Returns advice on how to make this machine enforce limits. */
const char *cgroup_base_advice(const struct cgroup_base *base);

#endif
