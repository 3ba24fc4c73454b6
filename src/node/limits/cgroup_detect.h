/* Where this machine has control groups, read from the texts of /proc/self/cgroup and
 * /proc/self/mountinfo. Pure: it opens nothing, so each kind of machine is tested as a pair of
 * texts. limits/cgroup_base.c uses the result. */
#ifndef TRAINYARD_NODE_LIMITS_CGROUP_DETECT_H
#define TRAINYARD_NODE_LIMITS_CGROUP_DETECT_H

#include "base/arena.h"
#include "node/limits/cgroup.h"

/* The group into which trainyard's own processes are moved when they are in the way of child
 * groups (cgroup_base.c). A server that is restarted begins there. */
#define CGROUP_SELF "trainyard-self"

/* One hierarchy as this process sees it. */
struct cgroup_place {
    const char *mount;    /* its mount point */
    const char *own;      /* the directory of this process's group, without CGROUP_SELF */
    unsigned controllers; /* version 1 only; in version 2 the file cgroup.controllers lists them */
    bool unified;         /* version 2 */
    bool of_systemd;      /* the group belongs to a unit of systemd */
    bool read_only;       /* mounted read-only, as in most containers */
};

struct cgroup_places {
    struct cgroup_place items[CGROUP_TREES_MAX];
    size_t count;
};

void cgroup_detect(struct arena *arena, const char *own_groups, const char *mounts,
                   struct cgroup_places *ret);

/* Returns the directory below which groups are to be created. It is the process's own group, so
 * that its limits apply to pods too. A unit's group belongs to systemd, so a privileged process
 * uses a group of its own beside the slices. An ordinary user has only the groups that were
 * delegated to it. */
const char *cgroup_place_parent(const struct cgroup_place *place, bool privileged);

#endif
