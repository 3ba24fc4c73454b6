/* Creates, limits, enters, reads and removes the control groups of one pod. A pod has one group per
 * usable hierarchy. Each of these groups contains one group per container, named container-<name>.
 * The prefix avoids collisions with the kernel's own files, such as "tasks". The pod's supervisor
 * creates and removes the groups. The control process reads their counters and removes groups that
 * a killed supervisor left. limits/cgroup_base.c uses the same functions for the group of the whole
 * cluster. cgroup.c uses the kernel's files; cgroup_text.c writes and parses lists of groups. */
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
    CGROUP_CPUACCT = 1 << 1, /* version 1 only; in version 2 every group counts CPU time */
    CGROUP_MEMORY = 1 << 2,
    CGROUP_PIDS = 1 << 3,
    CGROUP_LAST = CGROUP_PIDS,
};
/* Returns the kernel's name of one controller, such as "cpu". */
const char *cgroup_controller_name(unsigned controller);

enum { CGROUP_TREES_MAX = 5 }; /* four controllers of version 1, and the hierarchy of version 2 */

/* A group in one hierarchy, and the controllers it is used for. A group of version 2 without
 * controllers is still useful: the kernel counts its CPU time and can kill all its processes at
 * once. */
struct cgroup_tree {
    const char *directory;
    unsigned controllers;
    bool unified; /* version 2 */
};

struct cgroup_trees {
    struct cgroup_tree items[CGROUP_TREES_MAX];
    size_t count;
};

/* A field that is 0 is not written to the group. */
struct cgroup_limits {
    int64_t cpu_shares;   /* weight relative to other groups: 1024 per requested CPU */
    int64_t cpu_quota_us; /* microseconds of CPU time per CGROUP_PERIOD_US */
    int64_t memory_bytes;
    int64_t pids; /* processes and threads */
};
enum { CGROUP_PERIOD_US = 100 * 1000 };

/* Returns the controllers of all trees together. */
unsigned cgroup_controllers(const struct cgroup_trees *trees);
/* Sets *ret to the child groups called `name` of the groups in `trees`. Creates nothing. */
void cgroup_trees_below(struct arena *arena, const struct cgroup_trees *trees, const char *name,
                        struct cgroup_trees *ret);

/* Appends one line per tree: VERSION CONTROLLERS DIRECTORY, as in "1 cpu,cpuacct
 * /sys/fs/cgroup/cpu/…". */
void cgroup_trees_write(const struct cgroup_trees *trees, struct buf *buf);
/* Parses the text of cgroup_trees_write(). Modifies the text, which must live as long as `*ret`. */
int cgroup_trees_parse(char *text, struct cgroup_trees *ret, struct err *err);
/* Writes the file <pod directory>/cgroups, which names the pod's groups. The control process writes
 * it before each start of a supervisor, because each `trainyard up` may create groups in another
 * place. */
int cgroup_trees_store(const char *pod_directory, const struct cgroup_trees *trees,
                       struct err *err);
/* Reads the file that cgroup_trees_store() writes. Returns 0 with no trees if it does not exist. */
int cgroup_trees_load(struct arena *arena, const char *pod_directory, struct cgroup_trees *ret,
                      struct err *err);

/* In all functions below, `container` NULL means the pod's own group. */

/* Creates the group in every hierarchy. Returns 0 also if it exists already. */
int cgroup_make(const struct cgroup_trees *pod, const char *container, struct err *err);
/* Writes the limits to the group. Ignores a limit if no hierarchy has its controller. */
int cgroup_limit(const struct cgroup_trees *pod, const char *container,
                 const struct cgroup_limits *limits, struct err *err);
/* Moves the calling process into the group. Processes that it starts later are in the group too. */
int cgroup_enter(const struct cgroup_trees *pod, const char *container, struct err *err);
/* Kills every process in the group and in its child groups, and removes these groups. Waits at most
 * about a second per group for killed processes to end. Returns 0 if the group does not exist. */
int cgroup_remove(const struct cgroup_trees *pod, const char *container, struct err *err);

/* Returns how many processes of the group the kernel has killed for lack of memory, or 0 if the
 * kernel does not count them. */
int64_t cgroup_oom_kills(const struct cgroup_trees *pod, const char *container);

struct cgroup_usage {
    int64_t cpu_ns;       /* since the group was created */
    int64_t memory_bytes; /* the working set: all charged memory except inactive file cache */
};
/* Returns false if the kernel does not count the CPU time or does not count the memory of the
 * group. */
bool cgroup_usage(const struct cgroup_trees *pod, const char *container, struct cgroup_usage *ret);

#endif
