/* Manages the control group that contains the groups of all pods of this cluster. It is named
 * trainyard-<number of the state directory> (state_number.h) and exists in each usable hierarchy.
 * The control process creates it before it starts another process, and removes the groups of pods
 * that no longer exist. The file <state>/run/cgroups, called the record, names every place where
 * groups were created, because the next `trainyard up` may start in another place. */
#ifndef TRAINYARD_NODE_LIMITS_CGROUP_BASE_H
#define TRAINYARD_NODE_LIMITS_CGROUP_BASE_H

#include "node/limits/cgroup.h"

struct cgroup_base {
    struct arena *arena;
    struct cgroup_trees trees; /* the cluster's groups; none if the machine allows none */
    const char *earlier;       /* the text of the record before this run */
    bool privileged;           /* namespace_probe_is_privileged() */
};

/* Creates the cluster's groups. Never fails: leaves out hierarchies that the machine does not
 * allow. */
struct cgroup_base *cgroup_base_open(const char *state_dir, bool privileged);
/* Frees the object. The groups stay. */
struct cgroup_base *cgroup_base_free(struct cgroup_base *base);
/* Copies the object into the arena, for use by another thread. The copy needs no
 * cgroup_base_free(). */
void cgroup_base_copy(struct arena *arena, const struct cgroup_base *base, struct cgroup_base *ret);

/* Makes it possible to create child groups with controllers in group `parent` of version 2. Such a
 * group must have no processes, but `trainyard up` may itself run in a group that was delegated to
 * this user. So the function moves trainyard's own processes from `parent` into its child group
 * CGROUP_SELF. Returns false if `parent` has other processes or the move fails. */
bool cgroup_base_step_aside(const char *state_dir, const char *parent);

/* Removes the groups of pods for which `knows` returns false, and kills the processes in them.
 * Searches all places in the record, and removes places of earlier runs that have no pod left. */
typedef bool cgroup_base_knows(void *context, const char *uid);
void cgroup_base_sweep(const char *state_dir, const struct cgroup_base *base,
                       cgroup_base_knows *knows, void *context);
/* Removes all groups in the record, including CGROUP_SELF, and kills the processes in them. A group
 * that contains the calling process stays, with all its processes, and stays in the record. Returns
 * 0 also if there is no record. */
int cgroup_base_destroy(const char *state_dir, struct err *err);

/* Writes to the pod's directory where the groups of the pod will be created. Also removes groups
 * that a killed supervisor of that pod left. Searches all places in the record for them, because
 * the earlier directory of the pod, which names their place, may be lost. */
int cgroup_base_place_pod(const struct cgroup_base *base, const char *pod_directory,
                          const char *uid, struct err *err);
/* Removes the groups that the pod's directory names, and kills the processes in them. Logs a
 * failure. */
void cgroup_base_remove_pod(const char *pod_directory);

/* Returns advice for the user on how to let this machine enforce limits. */
const char *cgroup_base_advice(const struct cgroup_base *base);

#endif
