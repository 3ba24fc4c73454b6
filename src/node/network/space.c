/* The cluster's namespaces. The control process stays in the machine's network and mounts, so that
 * it can listen on the machine's loopback; unless it is privileged it moves into a user namespace
 * of its own, in which it may make pods. A holder process (trainyard-step hold) keeps that
 * namespace and the pod network alive, so that pods, addresses and open connections outlive the
 * control process. */
#include "node/network/space.h"

#include "node/limits/cgroup_base.h"
#include "node/network/inside_socket.h"
#include "node/network/way_out.h"
#include "node/pod/state.h"
#include "node/process/helper.h"
#include "node/process/lock.h"
#include "node/process/start.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    STOP_GRACE_MS = 5 * 1000, /* `down` gives pods this long */
    STOP_SLACK_MS = 3 * 1000, /* and their supervisors this much more to write it down */
};

struct node_space {
    bool is_new; /* made by this process, not found */
    bool nested;
    int network_fd; /* the holder's network namespace */
    char *lock;
    struct cgroup_base *groups;
};

bool node_space_is_nested(const struct node_space *space)
{
    return space->nested;
}

const char *node_space_network(const struct node_space *space)
{
    return space->lock;
}

const struct cgroup_base *node_space_groups(const struct node_space *space)
{
    return space->groups;
}

/* What pods need where no user namespace gives it; root in somebody's container may lack it. */
static bool is_privileged(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {0};
    const uint32_t needed = 1U << CAP_SYS_ADMIN | 1U << CAP_NET_ADMIN | 1U << CAP_SETUID |
                            1U << CAP_SETGID | 1U << CAP_SETPCAP;
    return geteuid() == 0 && syscall(SYS_capget, &header, data) == 0 &&
           (data[0].effective & needed) == needed;
}

static int explain_refusal(struct err *err)
{
    return err_wrap(err,
                    "this machine refuses user namespaces to ordinary users (allow them: sysctl "
                    "user.max_user_namespaces=10000, kernel.unprivileged_userns_clone=1 and "
                    "kernel.apparmor_restrict_unprivileged_userns=0, where they exist; or run as "
                    "root)");
}

static int make_user_namespace(struct err *err)
{
    uid_t uid = geteuid();
    gid_t gid = getegid();
    if (unshare(CLONE_NEWUSER) < 0) {
        err_set_errno(err, errno, "unshare");
        return explain_refusal(err);
    }
    char map[64];
    int result = file_write_into("/proc/self/setgroups", "deny", err);
    snprintf(map, sizeof(map), "0 %u 1\n", uid);
    if (result == 0)
        result = file_write_into("/proc/self/uid_map", map, err);
    snprintf(map, sizeof(map), "0 %u 1\n", gid);
    if (result == 0)
        result = file_write_into("/proc/self/gid_map", map, err);
    return result < 0 ? explain_refusal(err) : 0;
}

/* Into the user namespace of a holder that lives; nothing to do when it is ours already. */
static int join_user_namespace(int pidfd, pid_t pid, struct err *err)
{
    char path[64];
    struct stat own, theirs;
    snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
    if (stat("/proc/self/ns/user", &own) < 0 || stat(path, &theirs) < 0)
        return err_set_errno(err, errno, "cannot look at the cluster's user namespace");
    if (own.st_ino == theirs.st_ino)
        return 0;
    if (setns(pidfd, CLONE_NEWUSER) < 0)
        return err_set_errno(err, errno,
                             "cannot join the cluster's user namespace: was it started by another "
                             "user");
    return 0;
}

static int start_holder(const char *step_path, const char *lock, struct err *err)
{
    int result = step_start((const char *[]){step_path, "hold", lock, NULL}, err);
    return result < 0 ? err_wrap(err, "cannot hold the pod network") : 0;
}

/* Tell a pod's supervisor to end it; the pidfd to wait for, or -1 if none lives. */
static int ask_to_end(const char *directory, const struct pod_stop *stop)
{
    _cleanup_free_ char *lock = mem_printf("%s/lock", directory);
    int pidfd;
    pid_t pid;
    if (process_lock_holder(lock, &pidfd, &pid, NULL) < 0)
        return -1;
    (void)pod_stop_store(directory, stop, NULL);
    pidfd_send_signal(pidfd, SIGTERM, NULL, 0);
    return pidfd;
}

/* Wait for a supervisor; one that does not end in time is killed, and its pod with it. */
static int await_end(int pidfd, int64_t grace_ms, struct err *err)
{
    bool ended = process_wait_end(pidfd, (int)grace_ms + STOP_SLACK_MS);
    if (!ended) {
        pidfd_send_signal(pidfd, SIGKILL, NULL, 0);
        ended = process_wait_end(pidfd, STOP_SLACK_MS);
    }
    close(pidfd);
    return ended ? 0 : err_set(err, ERR_TIMEOUT, "the supervisor of a pod does not end");
}

int node_pod_end(const char *directory, int64_t grace_ms, struct err *err)
{
    const struct pod_stop stop = {.grace_ms = grace_ms};
    int pidfd = ask_to_end(directory, &stop);
    return pidfd < 0 ? 0 : await_end(pidfd, grace_ms, err);
}

/* All are told before the first is waited for. */
static int end_pods(const char *state_dir, struct err *err)
{
    const struct pod_stop stop = {.grace_ms = STOP_GRACE_MS, .pause = true};
    _cleanup_free_ char *pods = mem_printf("%s/pods", state_dir);
    VEC(int) pidfds = {0};
    DIR *directory = opendir(pods);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        if (entry->d_name[0] == '.')
            continue;
        _cleanup_free_ char *pod = mem_printf("%s/%s", pods, entry->d_name);
        int pidfd = ask_to_end(pod, &stop);
        if (pidfd >= 0)
            vec_push(&pidfds, pidfd);
    }
    if (directory)
        closedir(directory);
    int result = 0;
    for (size_t i = 0; i < pidfds.count; i++) {
        int one = await_end(pidfds.items[i], STOP_GRACE_MS, err);
        result = one < 0 ? one : result;
    }
    vec_release(&pidfds);
    return result;
}

static int end_helpers(const char *state_dir, struct err *err)
{
    const struct helper_kind *const all[] = {&HELPER_PROXY, &HELPER_NAMES, &HELPER_WAY_OUT};
    int result = 0;
    for (size_t i = 0; result == 0 && i < ARRAY_SIZE(all); i++)
        result = helper_process_end(all[i], state_dir, err);
    return result;
}

static int find_holder(struct node_space *space, const char *state_dir, const char *step_path,
                       struct err *err)
{
    _cleanup_fd_ int pidfd = -1;
    pid_t pid;
    int result;
    if (process_lock_holder(space->lock, &pidfd, &pid, NULL) == 0) {
        result = space->nested ? join_user_namespace(pidfd, pid, err) : 0;
    } else {
        space->is_new = true;
        /* Pods that outlived their network can reach nobody: they go on in the new one. */
        result = end_pods(state_dir, err);
        if (result == 0)
            result = end_helpers(state_dir, err);
        if (result == 0 && space->nested)
            result = make_user_namespace(err);
        if (result == 0)
            result = start_holder(step_path, space->lock, err);
        if (result == 0)
            result = process_lock_holder(space->lock, &pidfd, &pid, err);
    }
    if (result < 0)
        return result;
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
    space->network_fd = open(path, O_RDONLY | O_CLOEXEC);
    if (space->network_fd < 0)
        return err_set_errno(err, errno, "cannot open the pod network");
    return 0;
}

/* They belong to the network that was found or made just now. */
static int find_helpers(const struct node_space *space, const struct node_options *options,
                        struct err *err)
{
    const struct {
        const struct helper_kind *kind;
        const char *argument;
    } all[] = {{&HELPER_PROXY, NULL}, {&HELPER_NAMES, node_resolv_conf(options)}};
    int result = 0;
    for (size_t i = 0; result == 0 && i < ARRAY_SIZE(all); i++) {
        _cleanup_fd_ int pidfd = -1;
        const struct helper_options helper = {.state_dir = options->state_dir,
                                              .step_path = options->step_path,
                                              .holder = space->lock,
                                              .argument = all[i].argument};
        if (helper_process_find(all[i].kind, options->state_dir, &pidfd, NULL) < 0)
            result = helper_process_start(all[i].kind, &helper, err);
    }
    return result;
}

/* A cluster works without one, so whatever goes wrong is told, and nothing more. */
static void open_way_out(const struct node_space *space, const struct node_options *options)
{
    const struct helper_options helper = {
        .state_dir = options->state_dir, .step_path = options->step_path, .holder = space->lock};
    struct err err = ERR_INIT;
    if (!options->isolated)
        way_out_open(&helper, space->network_fd, space->nested);
    else if (helper_process_end(&HELPER_WAY_OUT, options->state_dir, &err) < 0 ||
             way_out_close(options->state_dir, &err) < 0)
        log_warning("network", "%s", err.message);
}

/* Each pod takes descriptors here; the usual soft limit is for programs that use select(). */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* A plain chroot is often an ordinary directory; the kernel lets nobody replace a root that is no
 * mount point, and makes no user namespace in any chroot. */
static int check_root(struct err *err)
{
    struct statx root;
    if (statx(AT_FDCWD, "/", 0, STATX_TYPE, &root) < 0 ||
        !(root.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) ||
        root.stx_attributes & STATX_ATTR_MOUNT_ROOT)
        return 0;
    return err_set(
        err, ERR_UNAVAILABLE,
        "the root directory is no mount point, as in a plain chroot, and pods cannot get "
        "a view of files of their own there: leave it, or enter it as containers do, "
        "by pivot_root");
}

int node_space_enter(const struct node_options *options, struct node_space **ret, struct err *err)
{
    static const char *const DIRECTORIES[] = {"run", "pods", "volumes"};
    for (size_t i = 0; i < ARRAY_SIZE(DIRECTORIES); i++) {
        _cleanup_free_ char *path = mem_printf("%s/%s", options->state_dir, DIRECTORIES[i]);
        int result = file_make_dirs(path, 0700, err);
        if (result < 0)
            return result;
    }
    int checked = check_root(err);
    if (checked < 0)
        return checked;
    raise_descriptor_limit();
    struct node_space *space = mem_zalloc(sizeof(*space));
    space->nested = !is_privileged();
    space->network_fd = -1;
    space->lock = mem_printf("%s/run/holder", options->state_dir);
    /* Before anything is started: it must be where we are when we have moved. */
    space->groups = cgroup_base_open(options->state_dir, !space->nested);
    int result = find_holder(space, options->state_dir, options->step_path, err);
    if (result == 0)
        result = find_helpers(space, options, err);
    if (result < 0) {
        node_space_abandon(space, options->state_dir);
        return result;
    }
    open_way_out(space, options);
    *ret = space;
    return 0;
}

struct node_space *node_space_free(struct node_space *space)
{
    if (space) {
        if (space->network_fd >= 0)
            close(space->network_fd);
        free(space->lock);
        cgroup_base_free(space->groups);
        free(space);
    }
    return NULL;
}

int node_space_socket(struct node_space *space, int domain, int type, int protocol, int *ret_fd,
                      struct err *err)
{
    return inside_socket(space->network_fd, domain, type, protocol, ret_fd, err);
}

int node_pod_socket(const char *directory, int domain, int type, int protocol, int *ret_fd,
                    struct err *err)
{
    _cleanup_free_ char *lock = mem_printf("%s/lock", directory);
    _cleanup_fd_ int pidfd = -1;
    pid_t pid;
    /* The supervisor lives in the pod's network. */
    int result = process_lock_holder(lock, &pidfd, &pid, err);
    if (result < 0)
        return err_set(err, ERR_UNAVAILABLE, "the pod is not running");
    return inside_socket(pidfd, domain, type, protocol, ret_fd, err);
}

int node_space_listen(struct node_space *space, int port, int *ret_fd, struct err *err)
{
    return inside_socket_gateway(space->network_fd, SOCK_STREAM, port, ret_fd, err);
}

static int end_holder(const char *state_dir, struct err *err)
{
    _cleanup_free_ char *lock = mem_printf("%s/run/holder", state_dir);
    _cleanup_fd_ int pidfd = -1;
    pid_t pid;
    if (process_lock_holder(lock, &pidfd, &pid, NULL) < 0)
        return 0;
    if (pidfd_send_signal(pidfd, SIGKILL, NULL, 0) < 0 || !process_wait_end(pidfd, STOP_SLACK_MS))
        return err_set(err, ERR_FORBIDDEN,
                       "cannot end the holder of the pod network (process %d): was the cluster "
                       "started by another user",
                       (int)pid);
    return 0;
}

int node_space_destroy(const char *state_dir, struct err *err)
{
    int result = end_pods(state_dir, err);
    if (result == 0)
        result = end_helpers(state_dir, err);
    if (result == 0)
        result = end_holder(state_dir, err);
    if (result == 0)
        result = way_out_close(state_dir, err);
    return result < 0 ? result : cgroup_base_destroy(state_dir, err);
}

struct node_space *node_space_abandon(struct node_space *space, const char *state_dir)
{
    if (space && space->is_new)
        (void)node_space_destroy(state_dir, NULL);
    return node_space_free(space);
}
