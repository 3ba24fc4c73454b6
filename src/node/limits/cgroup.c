/* Reads and writes the kernel's files of control groups; see limits/cgroup.h. The two versions of
 * control groups differ mainly in the names of these files. */
#include "node/limits/cgroup.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    FILE_MAX = 64 * 1024,
    SHARES_MIN = 2,
    SHARES_MAX = 262144,
    WEIGHT_MAX = 10000,
    /* How often and at which interval rmdir() is repeated while killed processes still exit. */
    REMOVE_TRIES = 200,
    REMOVE_PAUSE_NS = 5 * 1000 * 1000,
};

static const char *const NAMES[] = {"cpu", "cpuacct", "memory", "pids"};

const char *cgroup_controller_name(unsigned controller)
{
    return NAMES[__builtin_ctz(controller)];
}

unsigned cgroup_controllers(const struct cgroup_trees *trees)
{
    unsigned all = 0;
    for (size_t i = 0; i < trees->count; i++)
        all |= trees->items[i].controllers;
    return all;
}

void cgroup_trees_below(struct arena *arena, const struct cgroup_trees *trees, const char *name,
                        struct cgroup_trees *ret)
{
    *ret = *trees;
    for (size_t i = 0; i < ret->count; i++)
        ret->items[i].directory = arena_printf(arena, "%s/%s", trees->items[i].directory, name);
}

/* ---- Paths and files ------------------------------------------------------------------------- */

/* Returns the path of the group's directory, or of a file in it if `file` is not NULL. */
static char *group_path(const struct cgroup_tree *tree, const char *container, const char *file)
{
    return mem_printf("%s%s%s%s%s", tree->directory, container ? "/container-" : "",
                      container ? container : "", file ? "/" : "", file ? file : "");
}

/* Returns the tree that has this controller, or NULL. */
static const struct cgroup_tree *find_tree(const struct cgroup_trees *trees, unsigned controller)
{
    for (size_t i = 0; i < trees->count; i++)
        if (trees->items[i].controllers & controller)
            return &trees->items[i];
    return NULL;
}

/* Returns the tree of version 2, or NULL. */
static const struct cgroup_tree *find_unified(const struct cgroup_trees *trees)
{
    for (size_t i = 0; i < trees->count; i++)
        if (trees->items[i].unified)
            return &trees->items[i];
    return NULL;
}

static int write_number(const struct cgroup_tree *tree, const char *container, const char *file,
                        int64_t number, struct err *err)
{
    _cleanup_free_ char *path = group_path(tree, container, file);
    char text[32];
    snprintf(text, sizeof(text), "%lld", (long long)number);
    return file_write_into(path, text, err);
}

/* Returns the number in a file, or the number after `key` in a file of "key number" lines; -1 if
 * there is no number. */
static int64_t cgroup_read_number(const struct cgroup_tree *tree, const char *container,
                                  const char *file, const char *key)
{
    _cleanup_free_ char *path = group_path(tree, container, file);
    _cleanup_buf_ struct buf text;
    buf_init(&text, FILE_MAX);
    if (file_read(path, &text, NULL) < 0)
        return -1;
    char *rest = text.data;
    size_t size = key ? strlen(key) : 0;
    for (char *line; (line = strsep(&rest, "\n"));)
        if (*line && (!key || (strncmp(line, key, size) == 0 && line[size] == ' ')))
            return strtoll(line + size, NULL, 10);
    return -1;
}

/* ---- Making ---------------------------------------------------------------------------------- */

/* Enables the tree's controllers for child groups. Only version 2 needs that: the file
 * cgroup.subtree_control of a group lists the controllers of its child groups. */
static int enable_for_children(const struct cgroup_tree *tree, struct err *err)
{
    _cleanup_free_ char *path = group_path(tree, NULL, "cgroup.subtree_control");
    for (unsigned bit = 1; tree->unified && bit <= CGROUP_LAST; bit <<= 1) {
        char text[16];
        snprintf(text, sizeof(text), "+%s", cgroup_controller_name(bit));
        int result = tree->controllers & bit ? file_write_into(path, text, err) : 0;
        if (result < 0)
            return err_wrap(err, "control group '%s'", tree->directory);
    }
    return 0;
}

int cgroup_make(const struct cgroup_trees *pod, const char *container, struct err *err)
{
    for (size_t i = 0; i < pod->count; i++) {
        const struct cgroup_tree *tree = &pod->items[i];
        _cleanup_free_ char *path = group_path(tree, container, NULL);
        if (mkdir(path, 0755) < 0 && errno != EEXIST)
            return err_set_errno(err, errno, "cannot make control group '%s'", path);
        int result = container ? 0 : enable_for_children(tree, err);
        if (result < 0)
            return result;
    }
    return 0;
}

/* ---- Limiting -------------------------------------------------------------------------------- */

/* Converts shares of version 1 to a weight of version 2, as Kubernetes does. */
static int64_t weight_of_shares(int64_t shares)
{
    return 1 + ((shares - SHARES_MIN) * (WEIGHT_MAX - 1)) / (SHARES_MAX - SHARES_MIN);
}

static int limit_cpu(const struct cgroup_tree *tree, const char *container,
                     const struct cgroup_limits *limits, struct err *err)
{
    int64_t shares = limits->cpu_shares, quota = limits->cpu_quota_us;
    shares = shares && shares < SHARES_MIN ? SHARES_MIN : shares > SHARES_MAX ? SHARES_MAX : shares;
    int result = 0;
    if (shares)
        result = tree->unified
                     ? write_number(tree, container, "cpu.weight", weight_of_shares(shares), err)
                     : write_number(tree, container, "cpu.shares", shares, err);
    if (result < 0 || !quota)
        return result;
    if (!tree->unified)
        return write_number(tree, container, "cpu.cfs_quota_us", quota, err);
    _cleanup_free_ char *path = group_path(tree, container, "cpu.max");
    char text[48];
    snprintf(text, sizeof(text), "%lld %d", (long long)quota, CGROUP_PERIOD_US);
    return file_write_into(path, text, err);
}

/* Limits memory, and memory and swap together, to the same amount, so that swap adds nothing. A
 * kernel that does not count swap has no file for the second limit. */
static int limit_memory(const struct cgroup_tree *tree, const char *container, int64_t bytes,
                        struct err *err)
{
    int result = write_number(tree, container,
                              tree->unified ? "memory.max" : "memory.limit_in_bytes", bytes, err);
    if (result < 0)
        return result;
    (void)write_number(tree, container,
                       tree->unified ? "memory.swap.max" : "memory.memsw.limit_in_bytes",
                       tree->unified ? 0 : bytes, NULL);
    /* Makes the kernel kill all processes of a container if it kills one for lack of memory,
     * because the rest would do no useful work. */
    if (tree->unified && container)
        (void)write_number(tree, container, "memory.oom.group", 1, NULL);
    return 0;
}

int cgroup_limit(const struct cgroup_trees *pod, const char *container,
                 const struct cgroup_limits *limits, struct err *err)
{
    const struct cgroup_tree *tree;
    int result = 0;
    if ((tree = find_tree(pod, CGROUP_CPU)))
        result = limit_cpu(tree, container, limits, err);
    if (result == 0 && limits->memory_bytes && (tree = find_tree(pod, CGROUP_MEMORY)))
        result = limit_memory(tree, container, limits->memory_bytes, err);
    if (result == 0 && limits->pids && (tree = find_tree(pod, CGROUP_PIDS)))
        result = write_number(tree, container, "pids.max", limits->pids, err);
    return result < 0 ? err_wrap(err, "cannot set a limit") : 0;
}

int cgroup_enter(const struct cgroup_trees *pod, const char *container, struct err *err)
{
    for (size_t i = 0; i < pod->count; i++) {
        int result = write_number(&pod->items[i], container, "cgroup.procs", 0, err);
        if (result < 0)
            return err_wrap(err, "cannot enter the control group");
    }
    return 0;
}

/* ---- Counting -------------------------------------------------------------------------------- */

int64_t cgroup_oom_kills(const struct cgroup_trees *pod, const char *container)
{
    const struct cgroup_tree *tree = find_tree(pod, CGROUP_MEMORY);
    int64_t kills =
        tree
            ? cgroup_read_number(tree, container,
                                 tree->unified ? "memory.events" : "memory.oom_control", "oom_kill")
            : 0;
    return kills < 0 ? 0 : kills;
}

/* Returns -1 if the kernel does not count the CPU time. Version 2 counts the CPU time of every
 * group, with or without a controller. */
static int64_t cpu_ns(const struct cgroup_trees *pod, const char *container)
{
    const struct cgroup_tree *tree = find_tree(pod, CGROUP_CPUACCT);
    if (tree && !tree->unified)
        return cgroup_read_number(tree, container, "cpuacct.usage", NULL);
    tree = find_unified(pod);
    int64_t us = tree ? cgroup_read_number(tree, container, "cpu.stat", "usage_usec") : -1;
    return us < 0 ? -1 : us * 1000;
}

/* Returns -1 if the kernel does not count the memory. */
static int64_t working_set(const struct cgroup_trees *pod, const char *container)
{
    const struct cgroup_tree *tree = find_tree(pod, CGROUP_MEMORY);
    if (!tree)
        return -1;
    int64_t used = cgroup_read_number(
        tree, container, tree->unified ? "memory.current" : "memory.usage_in_bytes", NULL);
    int64_t idle = cgroup_read_number(tree, container, "memory.stat",
                                      tree->unified ? "inactive_file" : "total_inactive_file");
    return used < 0 || idle < 0 ? -1 : used < idle ? 0 : used - idle;
}

bool cgroup_usage(const struct cgroup_trees *pod, const char *container, struct cgroup_usage *ret)
{
    struct cgroup_usage usage = {cpu_ns(pod, container), working_set(pod, container)};
    if (usage.cpu_ns < 0 || usage.memory_bytes < 0)
        return false;
    *ret = usage;
    return true;
}

/* ---- Removing -------------------------------------------------------------------------------- */

/* Kills the processes that are in the group itself, except the calling process. */
static void kill_listed(const char *directory)
{
    _cleanup_free_ char *path = mem_printf("%s/cgroup.procs", directory);
    FILE *file = fopen(path, "re");
    int pid;
    while (file && fscanf(file, "%d", &pid) == 1)
        if (pid > 0 && pid != getpid())
            kill(pid, SIGKILL);
    if (file)
        fclose(file);
}

/* Removes a group after its child groups. Returns 0, or -1 with errno. Child groups come first,
 * because the kernel refuses to remove a group that has some. */
static int remove_directory(const char *directory)
{
    DIR *entries = opendir(directory);
    if (!entries)
        return errno == ENOENT ? 0 : -1;
    int result = 0;
    for (struct dirent *entry; result == 0 && (entry = readdir(entries));) {
        if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
            continue;
        _cleanup_free_ char *below = mem_printf("%s/%s", directory, entry->d_name);
        result = remove_directory(below);
    }
    closedir(entries);
    for (int tries = 0; result == 0; tries++) {
        if (rmdir(directory) == 0 || errno == ENOENT)
            return 0;
        if (errno != EBUSY || tries == REMOVE_TRIES)
            return -1;
        kill_listed(directory);
        nanosleep(&(struct timespec){.tv_nsec = REMOVE_PAUSE_NS}, NULL);
    }
    return result;
}

int cgroup_remove(const struct cgroup_trees *pod, const char *container, struct err *err)
{
    const struct cgroup_tree *unified = find_unified(pod);
    if (unified) /* kills all processes at once; older kernels have no such file */
        (void)write_number(unified, container, "cgroup.kill", 1, NULL);
    int result = 0;
    for (size_t i = 0; i < pod->count; i++) {
        _cleanup_free_ char *path = group_path(&pod->items[i], container, NULL);
        if (remove_directory(path) < 0)
            result = err_set_errno(err, errno, "cannot remove control group '%s'", path);
    }
    return result;
}
