/* Manages the control group that contains the groups of all pods of this cluster. It is named
 * trainyard-<number of the state directory> and exists in each usable hierarchy. The control
 * process creates it before it starts anything else, and removes the groups of pods that no longer
 * exist. <state>/run/cgroups records every place where groups were created, because the next
 * `trainyard up` may start in another place. */
#ifndef TRAINYARD_NODE_LIMITS_CGROUP_BASE_H
#define TRAINYARD_NODE_LIMITS_CGROUP_BASE_H

#include "node/limits/cgroup.h"

struct cgroup_base {
    struct arena *arena;
    struct cgroup_trees trees; /* empty if the machine allows none */
    const char *earlier;       /* text of <state>/run/cgroups from earlier runs */
    bool privileged;
};

/* Never fails: hierarchies that the machine does not allow are left out. */
struct cgroup_base *cgroup_base_open(const char *state_dir, bool privileged);
struct cgroup_base *cgroup_base_free(struct cgroup_base *base);
/* Copies the base for another thread into the arena. The copy need not be freed. */
void cgroup_base_copy(struct arena *arena, const struct cgroup_base *base, struct cgroup_base *ret);

/* Moves trainyard's own processes from group `parent` into its child group CGROUP_SELF. In version
 * 2 a group has either processes or child groups with controllers, and `trainyard up` may run in a
 * group that was delegated to this user. Returns true if `parent` can now have child groups with
 * controllers. */
bool cgroup_base_step_aside(const char *state_dir, const char *parent);

/* Removes the groups of pods for which `knows` returns false, and kills the processes in them.
 * Searches the places of this run and of earlier runs. */
typedef bool cgroup_base_knows(void *context, const char *uid);
void cgroup_base_sweep(const char *state_dir, const struct cgroup_base *base,
                       cgroup_base_knows *knows, void *context);
/* Removes all groups that were ever recorded for this state directory, and kills the processes in
 * them. Returns 0 if there are none. */
int cgroup_base_destroy(const char *state_dir, struct err *err);

/* Records where the groups of a pod will be created. Also removes groups that a killed supervisor
 * of that pod left. It searches all recorded places, because the pod's directory, which names the
 * place, may be lost. */
int cgroup_base_place_pod(const struct cgroup_base *base, const char *pod_directory,
                          const char *uid, struct err *err);
void cgroup_base_remove_pod(const char *pod_directory);

/* Returns advice on how to make this machine enforce limits. */
const char *cgroup_base_advice(const struct cgroup_base *base);

#endif
