/* Finds the control group hierarchies of this machine in the texts of /proc/self/cgroup and
 * /proc/self/mountinfo. Pure: it opens no file, so tests describe each kind of machine by two
 * texts. limits/cgroup_base.c uses the result. */
#ifndef TRAINYARD_NODE_LIMITS_CGROUP_DETECT_H
#define TRAINYARD_NODE_LIMITS_CGROUP_DETECT_H

#include "base/arena.h"
#include "node/limits/cgroup.h"

/* The group into which cgroup_base.c moves trainyard's own processes, because a group with
 * processes cannot have child groups with controllers. A server that such a process restarts begins
 * in this group. */
#define CGROUP_SELF "trainyard-self"

/* One hierarchy as this process sees it. */
struct cgroup_place {
    const char *mount;    /* where the hierarchy is mounted */
    const char *group;    /* the directory of this process's group, without CGROUP_SELF */
    unsigned controllers; /* version 1 only; in version 2 the file cgroup.controllers lists them */
    bool unified;         /* version 2 */
    bool of_systemd;      /* this process's group belongs to a unit of systemd */
    bool read_only;       /* mounted read-only, as in most containers */
};

struct cgroup_places {
    struct cgroup_place items[CGROUP_TREES_MAX];
    size_t count;
};

/* Finds the hierarchies in `own_groups`, the text of /proc/self/cgroup, and `mounts`, the text of
 * /proc/self/mountinfo. The strings of *ret are in the arena. */
void cgroup_detect(struct arena *arena, const char *own_groups, const char *mounts,
                   struct cgroup_places *ret);

/* Returns the directory in which groups are to be created. Usually it is the process's own group,
 * so that the limits of that group apply to pods too. The group of a systemd unit belongs to
 * systemd, so a privileged process creates its group at the top of the hierarchy instead. An
 * ordinary user can use only groups that were delegated to that user. */
const char *cgroup_place_parent(const struct cgroup_place *place, bool privileged);

#endif
