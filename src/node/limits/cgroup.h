/* Control groups of one pod: made, limited, entered, counted, removed. A pod has a group in every
 * hierarchy that is of use, and below each one a container: <pod>/container-<name>, because plain
 * names would meet the kernel's own files ("tasks"). The pod's supervisor makes them and takes them
 * away; control reads what they count, and removes what a killed supervisor left. */
#ifndef TRAINYARD_NODE_LIMITS_CGROUP_H
#define TRAINYARD_NODE_LIMITS_CGROUP_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cgroup_controller {
    CGROUP_CPU = 1 << 0,
    CGROUP_CPUACCT = 1 << 1, /* of version 1; in version 2 every group counts */
    CGROUP_MEMORY = 1 << 2,
    CGROUP_PIDS = 1 << 3,
    CGROUP_LAST = CGROUP_PIDS,
};
const char *cgroup_controller_name(unsigned controller); /* "cpu" */

enum { CGROUP_TREES_MAX = 5 }; /* one a controller, and version 2 beside them */

/* A directory in one hierarchy, and what it is used for. A group of version 2 without controllers
 * is still good for ending all its processes at once. */
struct cgroup_tree {
    const char *directory;
    unsigned controllers;
    bool unified; /* version 2 */
};

struct cgroup_trees {
    struct cgroup_tree items[CGROUP_TREES_MAX];
    size_t count;
};

/* 0 in any of them: not limited. */
struct cgroup_limits {
    int64_t cpu_shares;   /* weight against the neighbours: 1024 a CPU asked for */
    int64_t cpu_quota_us; /* of each CGROUP_PERIOD_US */
    int64_t memory_bytes;
    int64_t pids;
};
enum { CGROUP_PERIOD_US = 100 * 1000 };

unsigned cgroup_controllers(const struct cgroup_trees *trees);
/* The same hierarchies, each directory one step down. */
void cgroup_trees_below(struct arena *arena, const struct cgroup_trees *trees, const char *name,
                        struct cgroup_trees *ret);

/* One line each: "1 cpu,cpuacct /sys/fs/cgroup/cpu/…". */
void cgroup_trees_write(const struct cgroup_trees *trees, struct buf *buf);
/* The text is cut up in place and must live as long as the trees. */
int cgroup_trees_parse(char *text, struct cgroup_trees *ret, struct err *err);
/* <pod directory>/cgroups: which are the pod's. Control writes it before each start of a
 * supervisor, since another `up` may make groups elsewhere. */
int cgroup_trees_store(const char *pod_directory, const struct cgroup_trees *trees,
                       struct err *err);
int cgroup_trees_load(struct arena *arena, const char *pod_directory, struct cgroup_trees *ret,
                      struct err *err);

/* All below: `container` NULL is the pod's own group. */

/* A group that is there already is fine. */
int cgroup_make(const struct cgroup_trees *pod, const char *container, struct err *err);
int cgroup_limit(const struct cgroup_trees *pod, const char *container,
                 const struct cgroup_limits *limits, struct err *err);
/* Move the calling process there; what it forks is there, too. */
int cgroup_enter(const struct cgroup_trees *pod, const char *container, struct err *err);
/* With every group below and every process in them. A missing one is fine. */
int cgroup_remove(const struct cgroup_trees *pod, const char *container, struct err *err);

/* How many processes the kernel has ended for want of memory since the group was made. */
int64_t cgroup_oom_kills(const struct cgroup_trees *pod, const char *container);

struct cgroup_usage {
    int64_t cpu_ns;       /* since the group was made */
    int64_t memory_bytes; /* the working set: all that is charged less idle cache of files */
};
/* False where no controller counts it. */
bool cgroup_usage(const struct cgroup_trees *pod, const char *container, struct cgroup_usage *ret);

#endif
