/* Where this machine has control groups, read from the texts of /proc/self/cgroup and
 * /proc/self/mountinfo. Pure: nothing is opened here, so every kind of machine is tested as a pair
 * of texts. limits/cgroup_base.c acts on what is found. */
#ifndef TRAINYARD_NODE_LIMITS_CGROUP_DETECT_H
#define TRAINYARD_NODE_LIMITS_CGROUP_DETECT_H

#include "base/arena.h"
#include "node/limits/cgroup.h"

/* The group into which our processes go when they are in the way of others (cgroup_base.c). A
 * server that is started again is born there. */
#define CGROUP_SELF "trainyard-self"

/* One hierarchy as this process sees it. */
struct cgroup_place {
    const char *mount;    /* where it is mounted */
    const char *own;      /* the directory of this process's group in it, without CGROUP_SELF */
    unsigned controllers; /* of version 1; what version 2 offers says cgroup.controllers */
    bool unified;         /* version 2 */
    bool of_systemd;      /* our group is that of one of systemd's units */
    bool read_only;       /* as in most containers */
};

struct cgroup_places {
    struct cgroup_place items[CGROUP_TREES_MAX];
    size_t count;
};

void cgroup_detect(struct arena *arena, const char *own_groups, const char *mounts,
                   struct cgroup_places *ret);

/* Below which directory groups are to be made. It is our own group, so that whatever limits us
 * limits our pods; but the group of a unit is systemd's alone, and who may do so makes a group of
 * its own beside the slices. An ordinary user has only what was delegated to it. */
const char *cgroup_place_parent(const struct cgroup_place *place, bool privileged);

#endif
