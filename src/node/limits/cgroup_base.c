/* Creates and removes the cluster's control groups; see limits/cgroup_base.h. */
#include "node/limits/cgroup_base.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "base/system/file.h"
#include "node/limits/cgroup_detect.h"
#include "node/process/lock.h"
#include "node/state_number.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

enum { TEXT_MAX = 1024 * 1024, RECORD_MAX = 64 * 1024, SHARES_PER_CPU = 1024 };

/* ---- The record ------------------------------------------------------------------------------ */

static char *record_path(const char *state_dir)
{
    return mem_printf("%s/run/cgroups", state_dir);
}

/* Calls `visit` for each line of the record. */
static void each_recorded(const char *text, struct arena *arena,
                          void (*visit)(void *context, const struct cgroup_trees *one),
                          void *context)
{
    char *rest = arena_strdup(arena, text);
    for (char *line; (line = strsep(&rest, "\n"));) {
        struct cgroup_trees one;
        if (cgroup_trees_parse(line, &one, NULL) == 0 && one.count)
            visit(context, &one);
    }
}

static void read_record(const char *state_dir, struct buf *ret)
{
    _cleanup_free_ char *path = record_path(state_dir);
    buf_init(ret, RECORD_MAX);
    (void)file_read(path, ret, NULL);
}

/* Adds a group to the record, unless the record has it. Must be called before the group is created,
 * so that no group is missing in the record after a crash. */
static int cgroup_base_remember(const char *state_dir, const struct cgroup_trees *one,
                                struct err *err)
{
    _cleanup_free_ char *path = record_path(state_dir);
    _cleanup_buf_ struct buf text, line;
    read_record(state_dir, &text);
    buf_init(&line, RECORD_MAX);
    cgroup_trees_write(one, &line);
    if (text.size && strstr(text.data, line.data))
        return 0;
    buf_append(&text, line.data, line.size);
    return file_write_atomic(path, text.data, text.size, 0600, err);
}

/* ---- Making ---------------------------------------------------------------------------------- */

/* Enables a controller of version 2 for the child groups of `parent`. */
static int enable_for_children_of(const char *parent, unsigned controller, struct err *err)
{
    _cleanup_free_ char *path = mem_printf("%s/cgroup.subtree_control", parent);
    char text[16];
    snprintf(text, sizeof(text), "+%s", cgroup_controller_name(controller));
    return file_write_into(path, text, err);
}

/* Returns true if the process runs this program. Such a process is the server itself, or the
 * `trainyard up` that waits for the server. */
static bool is_own_program(int pid)
{
    char path[64];
    struct stat own, other;
    snprintf(path, sizeof(path), "/proc/%d/exe", pid);
    return stat("/proc/self/exe", &own) == 0 && stat(path, &other) == 0 &&
           own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

/* Returns true if the group may have child groups with controllers. A group with processes may not,
 * except for the root of the hierarchy. Only the root has no file cgroup.type. */
static bool may_have_groups(const char *parent)
{
    _cleanup_free_ char *type = mem_printf("%s/cgroup.type", parent);
    _cleanup_free_ char *path = mem_printf("%s/cgroup.procs", parent);
    _cleanup_buf_ struct buf text;
    buf_init(&text, TEXT_MAX);
    return !file_exists(type) || (file_read(path, &text, NULL) == 0 && text.size == 0);
}

bool cgroup_base_step_aside(const char *state_dir, const char *parent)
{
    if (may_have_groups(parent))
        return true;
    _cleanup_free_ char *directory = mem_printf("%s/" CGROUP_SELF, parent);
    _cleanup_free_ char *from = mem_printf("%s/cgroup.procs", parent);
    _cleanup_free_ char *to = mem_printf("%s/cgroup.procs", directory);
    const struct cgroup_trees self = {{{.directory = directory, .unified = true}}, 1};
    _cleanup_buf_ struct buf text;
    buf_init(&text, TEXT_MAX);
    if (cgroup_base_remember(state_dir, &self, NULL) < 0 ||
        (mkdir(directory, 0755) < 0 && errno != EEXIST) || file_read(from, &text, NULL) < 0)
        return false;
    char *rest = text.data;
    for (char *pid; (pid = strsep(&rest, "\n"));)
        if (*pid && is_own_program(atoi(pid)))
            (void)file_write_into(to, pid, NULL);
    return may_have_groups(parent);
}

/* Enables the controllers that the group can pass on to its children, except those in `taken`.
 * Returns the controllers that are enabled now. */
static unsigned cgroup_base_enable_controllers(const char *state_dir, const char *parent,
                                               unsigned taken)
{
    _cleanup_free_ char *path = mem_printf("%s/cgroup.controllers", parent);
    _cleanup_buf_ struct buf text;
    buf_init(&text, RECORD_MAX);
    unsigned found = 0;
    if (file_read(path, &text, NULL) < 0)
        return 0;
    char *rest = text.data;
    for (char *word; (word = strsep(&rest, " \n"));)
        for (unsigned bit = 1; bit <= CGROUP_LAST; bit <<= 1)
            if (str_eq(word, cgroup_controller_name(bit)) && !(taken & bit))
                found |= bit;
    /* The processes must leave the group first. The kernel enables cpu and pids for the children of
     * a group with processes without an error, but these children have the type "domain invalid",
     * and no process can enter them. */
    if (found && !cgroup_base_step_aside(state_dir, parent))
        return 0;
    for (unsigned bit = 1; bit <= CGROUP_LAST; bit <<= 1)
        if ((found & bit) && enable_for_children_of(parent, bit, NULL) < 0)
            found &= ~bit;
    return found;
}

/* Creates the cluster's group in one hierarchy, if the machine allows it. */
static void cgroup_base_add_place(struct cgroup_base *base, const char *state_dir, const char *name,
                                  const struct cgroup_place *place)
{
    const char *parent = cgroup_place_parent(place, base->privileged);
    struct cgroup_trees one = {{{.directory = arena_printf(base->arena, "%s/%s", parent, name),
                                 .controllers = place->controllers,
                                 .unified = place->unified}},
                               1};
    if (place->read_only || access(parent, W_OK) < 0)
        return;
    if (place->unified)
        one.items[0].controllers =
            cgroup_base_enable_controllers(state_dir, parent, cgroup_controllers(&base->trees));
    struct err err = ERR_INIT;
    if (cgroup_base_remember(state_dir, &one, &err) < 0 || cgroup_make(&one, NULL, &err) < 0) {
        log_info("cgroups", "%s", err.message);
        return;
    }
    /* All pods together get a weight of 1024 per processor, relative to other groups. */
    const struct cgroup_limits weight = {.cpu_shares = (int64_t)SHARES_PER_CPU * get_nprocs()};
    (void)cgroup_limit(&one, NULL, &weight, NULL);
    base->trees.items[base->trees.count++] = one.items[0];
}

struct cgroup_base *cgroup_base_open(const char *state_dir, bool privileged)
{
    struct cgroup_base *base = mem_zalloc(sizeof(*base));
    base->arena = arena_new();
    base->privileged = privileged;
    char name[64];
    snprintf(name, sizeof(name), "trainyard-%016llx",
             (unsigned long long)node_state_number(state_dir));
    _cleanup_buf_ struct buf own, mounts, earlier;
    buf_init(&own, TEXT_MAX);
    buf_init(&mounts, TEXT_MAX);
    struct cgroup_places places;
    read_record(state_dir, &earlier);
    base->earlier = arena_strndup(base->arena, earlier.size ? earlier.data : "", earlier.size);
    if (file_read("/proc/self/cgroup", &own, NULL) < 0 ||
        file_read("/proc/self/mountinfo", &mounts, NULL) < 0)
        return base;
    cgroup_detect(base->arena, own.data, mounts.data, &places);
    /* Version 1 comes first, because version 2 cannot use the controllers of a hierarchy of version
     * 1. */
    for (int unified = 0; unified < 2; unified++)
        for (size_t i = 0; i < places.count; i++)
            if (places.items[i].unified == unified)
                cgroup_base_add_place(base, state_dir, name, &places.items[i]);
    return base;
}

struct cgroup_base *cgroup_base_free(struct cgroup_base *base)
{
    if (base) {
        arena_free(base->arena);
        free(base);
    }
    return NULL;
}

void cgroup_base_copy(struct arena *arena, const struct cgroup_base *base, struct cgroup_base *ret)
{
    *ret = *base;
    ret->arena = arena;
    ret->earlier = arena_strdup(arena, base->earlier);
    for (size_t i = 0; i < base->trees.count; i++)
        ret->trees.items[i].directory = arena_strdup(arena, base->trees.items[i].directory);
}

/* ---- Removing -------------------------------------------------------------------------------- */

struct sweep {
    const struct cgroup_base *base;
    cgroup_base_knows *knows;
    void *context;
    struct arena *arena;
    struct buf kept; /* the new text of the record */
};

/* Returns true if the directory is one of the cluster's groups of this run. */
static bool is_current(const struct cgroup_base *base, const char *directory)
{
    for (size_t i = 0; i < base->trees.count; i++)
        if (str_eq(base->trees.items[i].directory, directory))
            return true;
    return false;
}

static void sweep_one(void *context, const struct cgroup_trees *one)
{
    struct sweep *sweep = context;
    const struct cgroup_tree *tree = &one->items[0];
    bool is_self = str_has_suffix(tree->directory, "/" CGROUP_SELF);
    DIR *entries = opendir(tree->directory);
    for (struct dirent *entry; entries && !is_self && (entry = readdir(entries));) {
        struct cgroup_trees pod;
        struct err err = ERR_INIT;
        if (entry->d_type != DT_DIR || entry->d_name[0] == '.' ||
            sweep->knows(sweep->context, entry->d_name))
            continue;
        cgroup_trees_below(sweep->arena, one, entry->d_name, &pod);
        if (cgroup_remove(&pod, NULL, &err) < 0)
            log_warning(entry->d_name, "%s", err.message);
    }
    if (entries)
        closedir(entries);
    /* A group of an earlier run is removed after the last pod in it. */
    bool is_gone = !is_current(sweep->base, tree->directory) &&
                   (rmdir(tree->directory) == 0 || errno == ENOENT);
    if (!is_gone)
        cgroup_trees_write(one, &sweep->kept);
}

void cgroup_base_sweep(const char *state_dir, const struct cgroup_base *base,
                       cgroup_base_knows *knows, void *context)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    _cleanup_free_ char *path = record_path(state_dir);
    _cleanup_buf_ struct buf text;
    struct sweep sweep = {.base = base, .knows = knows, .context = context, .arena = arena};
    buf_init(&sweep.kept, RECORD_MAX);
    read_record(state_dir, &text);
    each_recorded(text.size ? text.data : "", arena, sweep_one, &sweep);
    if (sweep.kept.size != text.size)
        (void)file_write_atomic(path, sweep.kept.data, sweep.kept.size, 0600, NULL);
    buf_release(&sweep.kept);
}

struct destroy {
    int result;
    bool has_caller; /* a group was kept because the calling process is in it */
    struct err *err;
};

/* Returns true if the calling process is in the group itself. */
static bool contains_caller(const struct cgroup_tree *tree)
{
    _cleanup_free_ char *path = mem_printf("%s/cgroup.procs", tree->directory);
    _cleanup_buf_ struct buf text;
    buf_init(&text, TEXT_MAX);
    if (file_read(path, &text, NULL) < 0)
        return false;
    char *rest = text.data;
    for (char *pid; (pid = strsep(&rest, "\n"));)
        if (atoi(pid) == getpid())
            return true;
    return false;
}

static void destroy_one(void *context, const struct cgroup_trees *one)
{
    struct destroy *destroy = context;
    int64_t deadline = moment_monotonic_ms() + PROCESS_DEATH_MS;
    struct err err;
    int result;
    /* A failed start of the cluster runs in CGROUP_SELF, together with the `trainyard up` that
     * waits for it. */
    if (contains_caller(&one->items[0])) {
        destroy->has_caller = true;
        return;
    }
    do { /* a killed process leaves its group when it is dead */
        err = ERR_INIT;
        result = cgroup_remove(one, NULL, &err);
    } while (result < 0 && err.sys == EBUSY && moment_monotonic_ms() < deadline);
    if (result < 0 && destroy->err)
        *destroy->err = err;
    destroy->result = result < 0 ? result : destroy->result;
}

int cgroup_base_destroy(const char *state_dir, struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    _cleanup_free_ char *path = record_path(state_dir);
    _cleanup_buf_ struct buf text;
    struct destroy destroy = {.err = err};
    read_record(state_dir, &text);
    each_recorded(text.size ? text.data : "", arena, destroy_one, &destroy);
    if (destroy.result == 0 && !destroy.has_caller)
        unlink(path);
    return destroy.result;
}

/* ---- A pod ----------------------------------------------------------------------------------- */

struct stale_groups {
    struct arena *arena;
    const char *uid;
};

static void remove_stale_groups(void *context, const struct cgroup_trees *one)
{
    struct stale_groups *stale = context;
    struct cgroup_trees pod;
    cgroup_trees_below(stale->arena, one, stale->uid, &pod);
    (void)cgroup_remove(&pod, NULL, NULL);
}

int cgroup_base_place_pod(const struct cgroup_base *base, const char *pod_directory,
                          const char *uid, struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct stale_groups stale = {arena, uid};
    struct cgroup_trees pod;
    cgroup_trees_below(arena, &base->trees, uid, &pod);
    remove_stale_groups(&stale, &base->trees);
    each_recorded(base->earlier, arena, remove_stale_groups, &stale);
    return cgroup_trees_store(pod_directory, &pod, err);
}

void cgroup_base_remove_pod(const char *pod_directory)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct cgroup_trees pod;
    struct err err = ERR_INIT;
    if (cgroup_trees_load(arena, pod_directory, &pod, &err) < 0 ||
        cgroup_remove(&pod, NULL, &err) < 0)
        log_warning(pod_directory, "%s", err.message);
}

const char *cgroup_base_advice(const struct cgroup_base *base)
{
    if (base->privileged)
        return "this machine has no writable control group: if Trainyard runs in a container, "
               "start that container with a writable /sys/fs/cgroup";
    return "an ordinary user needs a delegated control group: start the cluster with `systemd-run "
           "--user --scope -p Delegate=yes trainyard up` (and `loginctl enable-linger`, so that "
           "the cluster keeps running after you log out), or run it as root";
}
