/* Creates, finds and ends the cluster's namespaces; see node.h and network/namespaces.h. The
 * control process stays in the machine's network and mounts, so that it can listen on the machine's
 * loopback. Without privileges it moves into a user namespace of the cluster, in which it may
 * create pods. A holder process (trainyard-step hold) keeps that namespace and the pod network
 * alive, so that pods, addresses and open connections survive the control process. While the
 * control process lives, its descriptor also keeps the network alive. If the holder is killed
 * meanwhile, a new holder joins the network, and pods are not affected. */
#include "node/network/namespaces.h"

#include "node/limits/cgroup_base.h"
#include "node/network/egress.h"
#include "node/network/namespace_probe.h"
#include "node/network/namespace_socket.h"
#include "node/plan/kubeconfig.h"
#include "node/pod/record/stop.h"
#include "node/process/helper.h"
#include "node/process/lock.h"
#include "node/process/orphans.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/moment.h"
#include "base/system/file.h"
#include "base/vec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    /* The grace period of all pods at 'trainyard down', and at a start that ends the pods of an
       earlier run. */
    STOP_GRACE_MS = 5 * 1000,
    /* Extra time for the pods' supervisors. They may wait for a preStop hook, for the kernel to
       remove the sandbox, and for a slow disk. */
    STOP_SLACK_MS = 30 * 1000,
    /* How long node_pod_end() waits for a pod without a grace period, and for a killed supervisor.
       Short, because a thread of the server waits. */
    FORCE_MS = 3 * 1000,
    NOTE_MAX = 4096, /* bytes of <state>/run/plain */
};

struct node_namespaces {
    bool is_new;    /* this process has created the pod network */
    bool nested;    /* see node_namespaces_are_nested() */
    char *plain;    /* sentences that say why pods have no namespaces; NULL if they have some */
    int network_fd; /* the pod network; -1 if there are no namespaces */
    char *lock;     /* the path of the holder's lock file */
    struct cgroup_base *groups;
};

const char *node_namespaces_plain(const struct node_namespaces *space)
{
    return space->plain;
}

bool node_namespaces_are_nested(const struct node_namespaces *space)
{
    return space->nested;
}

const char *node_namespaces_holder_lock(const struct node_namespaces *space)
{
    return space->lock;
}

void node_namespaces_network_file(const struct node_namespaces *space,
                                  char ret[NODE_SPACE_FILE_MAX])
{
    snprintf(ret, NODE_SPACE_FILE_MAX, "/proc/%d/fd/%d", (int)getpid(), space->network_fd);
}

const struct cgroup_base *node_namespaces_groups(const struct node_namespaces *space)
{
    return space->groups;
}

static int make_user_namespace(struct err *err)
{
    int result = namespace_probe_make_user_namespace(err);
    return result < 0 ? err_wrap(err, "cannot make the cluster's user namespace") : 0;
}

/* Joins the user namespace of a running holder. Does nothing if this process is in it already. */
static int join_holder_user_namespace(int pidfd, pid_t pid, struct err *err)
{
    char path[64];
    struct stat own, theirs;
    snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
    if (stat("/proc/self/ns/user", &own) < 0 || stat(path, &theirs) < 0)
        return err_set_errno(err, errno, "cannot inspect the cluster's user namespace");
    if (own.st_ino == theirs.st_ino)
        return 0;
    if (setns(pidfd, CLONE_NEWUSER) < 0)
        return err_set_errno(
            err, errno,
            "cannot join the cluster's user namespace (was the cluster started by another user?)");
    return 0;
}

/* Tells a pod's supervisor to end the pod. Sets *ret_pidfd to the pidfd to wait for, or to -1 if
 * the pod has no supervisor. */
static int pod_request_end(const char *directory, const struct pod_stop *stop, int *ret_pidfd,
                           struct err *err)
{
    _cleanup_free_ char *lock = mem_printf("%s/lock", directory);
    int result = process_lock_find(lock, ret_pidfd, err);
    if (result < 0)
        return err_wrap(err, "cannot end a pod");
    if (*ret_pidfd >= 0) {
        (void)pod_stop_store(directory, stop, NULL);
        pod_stop_tell(*ret_pidfd);
    }
    return 0;
}

/* Waits for a supervisor, and closes `pidfd`. Kills a supervisor that does not end in time; if its
 * pod has namespaces, the pod ends with it. Does nothing if `pidfd` is -1. */
static int pod_await_end(int pidfd, int64_t timeout_ms, int death_ms, struct err *err)
{
    int result = 0;
    if (pidfd < 0)
        return 0;
    if (!process_wait_end(pidfd, timeout_ms > 0 ? (int)timeout_ms : 0))
        result = process_kill(pidfd, death_ms, err);
    close(pidfd);
    return result < 0 ? err_wrap(err, "cannot end the supervisor of a pod") : 0;
}

int node_pod_end(const char *directory, bool plain, int64_t grace_ms, struct err *err)
{
    const struct pod_stop stop = {.grace_ms = grace_ms, .deleted = true};
    int64_t timeout_ms = grace_ms ? grace_ms + STOP_SLACK_MS : FORCE_MS;
    int pidfd;
    int result = pod_request_end(directory, &stop, &pidfd, err);
    if (result == 0)
        result = pod_await_end(pidfd, timeout_ms, FORCE_MS, err);
    if (plain)
        orphans_end_marked(directory, NULL, NULL);
    return result;
}

/* Returns true if the pod of the mark "<pod directory>/<container>" may have a supervisor. The
 * supervisor ends the processes of its pod itself. */
static bool has_supervisor(void *context, const char *mark)
{
    (void)context;
    const char *slash = strrchr(mark, '/');
    _cleanup_free_ char *lock = mem_printf("%.*s/lock", (int)(slash - mark), mark);
    _cleanup_fd_ int pidfd = -1;
    pid_t pid;
    return process_lock_holder(lock, &pidfd, &pid, NULL) != -ERR_NOT_FOUND;
}

/* Ends the processes of pods without namespaces whose supervisor was killed. */
static void end_orphans(const char *state_dir)
{
    char path[PATH_MAX];
    _cleanup_free_ char *pods = mem_printf("%s/pods", realpath(state_dir, path) ? path : state_dir);
    size_t count = orphans_end_marked(pods, has_supervisor, NULL);
    if (count)
        log_info("cluster", "ended %zu processes that pods had left behind", count);
}

/* Ends all pods, and waits for their end. Tells all supervisors first, so that the pods end at the
 * same time. The pods are paused (pod/record/stop.h), so that a server can start them again. */
static int end_pods(const char *state_dir, struct err *err)
{
    const struct pod_stop stop = {.grace_ms = STOP_GRACE_MS, .pause = true};
    _cleanup_free_ char *pods = mem_printf("%s/pods", state_dir);
    VEC(int) pidfds = {0};
    int result = 0;
    DIR *directory = opendir(pods);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        if (entry->d_name[0] == '.')
            continue;
        _cleanup_free_ char *pod = mem_printf("%s/%s", pods, entry->d_name);
        int pidfd = -1, requested = pod_request_end(pod, &stop, &pidfd, err);
        result = requested < 0 ? requested : result;
        if (pidfd >= 0)
            vec_push(&pidfds, pidfd);
    }
    if (directory)
        closedir(directory);
    int64_t deadline = moment_monotonic_ms() + STOP_GRACE_MS + STOP_SLACK_MS;
    for (size_t i = 0; i < pidfds.count; i++) {
        int64_t left = deadline - moment_monotonic_ms();
        int ended = pod_await_end(pidfds.items[i], left, PROCESS_DEATH_MS, err);
        result = ended < 0 ? ended : result;
    }
    vec_release(&pidfds);
    end_orphans(state_dir);
    return result;
}

/* Ends all helpers except the holder. */
static int end_helpers(const char *state_dir, struct err *err)
{
    const struct helper_kind *const all[] = {&HELPER_PROXY, &HELPER_NAMES, &HELPER_EGRESS};
    int result = 0;
    for (size_t i = 0; result == 0 && i < ARRAY_SIZE(all); i++)
        result = helper_process_end(all[i], state_dir, err);
    return result;
}

/* Ends all pods, all helpers and the holder, and removes egress. */
static int end_all(const char *state_dir, struct err *err)
{
    int result = end_pods(state_dir, err);
    if (result == 0)
        result = end_helpers(state_dir, err);
    if (result == 0)
        result = helper_process_end(&HELPER_HOLDER, state_dir, err);
    return result < 0 ? result : egress_close(state_dir, err);
}

/* Finds the holder of an earlier run, or starts a holder. Opens the pod network. */
static int find_holder(struct node_namespaces *space, const char *state_dir, const char *step_path,
                       struct err *err)
{
    const struct helper_options holder = {.state_dir = state_dir, .step_path = step_path};
    _cleanup_fd_ int pidfd = -1;
    pid_t pid;
    int result = process_lock_holder(space->lock, &pidfd, &pid, err);
    if (result == 0) {
        result = space->nested ? join_holder_user_namespace(pidfd, pid, err) : 0;
    } else if (result == -ERR_NOT_FOUND) {
        space->is_new = true;
        /* Pods of an earlier run have lost their network, or had no namespaces. So they are ended
         * here, and start again in the new network. */
        result = end_pods(state_dir, err);
        if (result == 0)
            result = end_helpers(state_dir, err);
        if (result == 0 && space->nested)
            result = make_user_namespace(err);
        if (result == 0)
            result = helper_process_start(&HELPER_HOLDER, &holder, err);
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

/* Starts the service proxy and the DNS responder if they are not running. */
static int find_helpers(const struct node_namespaces *space, const struct node_options *options,
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

/* Sets up egress, or removes it for an isolated cluster. A cluster works without egress, so a
 * failure is only reported. */
static void open_egress(const struct node_namespaces *space, const struct node_options *options)
{
    const struct helper_options helper = {
        .state_dir = options->state_dir, .step_path = options->step_path, .holder = space->lock};
    struct err err = ERR_INIT;
    if (!options->isolated)
        egress_open(&helper, space->network_fd, space->nested);
    else if (helper_process_end(&HELPER_EGRESS, options->state_dir, &err) < 0 ||
             egress_close(options->state_dir, &err) < 0)
        log_warning("network", "%s", err.message);
}

/* This process needs descriptors for each pod. The usual soft limit is low for the sake of programs
 * that use select(). */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static char *plain_file(const char *state_dir)
{
    return mem_printf("%s/run/plain", state_dir);
}

const char *node_plain_note(struct arena *arena, const char *state_dir)
{
    _cleanup_free_ char *path = plain_file(state_dir);
    _cleanup_buf_ struct buf text;
    buf_init(&text, NOTE_MAX);
    return file_read(path, &text, NULL) < 0 ? NULL : arena_strndup(arena, text.data, text.size);
}

const char *node_note(struct arena *arena, const char *state_dir)
{
    const char *plain = node_plain_note(arena, state_dir);
    _cleanup_fd_ int pidfd = -1;
    if (plain)
        return plain;
    if (helper_process_find(&HELPER_HOLDER, state_dir, &pidfd, NULL) == -ERR_NOT_FOUND)
        return "the process that holds the pod network has ended: no pod can be started until "
               "another such process is running";
    return egress_complaint(arena, state_dir);
}

/* Returns true if the holder of the pod network runs, or if that is not known. */
static bool holder_lives(const struct node_namespaces *space)
{
    _cleanup_fd_ int pidfd = -1;
    pid_t pid;
    return process_lock_holder(space->lock, &pidfd, &pid, NULL) != -ERR_NOT_FOUND;
}

/* Sets space->plain if pods get no namespaces: with --plain, or on a machine that refuses
 * namespaces. If a holder runs, namespaces work. */
static void choose_mode(struct node_namespaces *space, const struct node_options *options)
{
    struct err err = ERR_INIT;
    const char *what = "--plain turns namespaces off", *cause = "";
    const char *advice = "To use namespaces, leave out --plain.";
    if (!options->plain) {
        _cleanup_free_ char *directory = mem_printf("%s/run", options->state_dir);
        if (holder_lives(space) || namespace_probe(directory, &err) == 0)
            return;
        what = "this machine forbids namespaces: ";
        cause = err.message;
        advice = namespace_probe_advice();
    }
    space->nested = !namespace_probe_can_become();
    space->plain = mem_printf(
        "%s%s. Pods run as plain processes of this machine and share its network, ports and files. "
        "Service addresses and names, images with files of their own, and volumes do not work, "
        "except hostPath volumes whose mountPath equals their path. %s",
        what, cause, advice);
}

/* Starts a cluster without namespaces. Ends the pods that run in namespaces. Stores the reason in a
 * file, which 'trainyard up' and 'trainyard status' read later. */
static int enter_plain(struct node_namespaces *space, const char *state_dir, struct err *err)
{
    _cleanup_free_ char *path = plain_file(state_dir);
    if (holder_lives(space)) {
        log_info("cluster",
                 "ending the pods that run in namespaces: they will continue without namespaces");
        int result = end_all(state_dir, err);
        if (result < 0)
            return result;
    }
    end_orphans(state_dir);
    return file_write_atomic(path, space->plain, strlen(space->plain), 0600, err);
}

/* Starts a cluster with namespaces. */
static int enter_namespaces(struct node_namespaces *space, const struct node_options *options,
                            struct err *err)
{
    _cleanup_free_ char *path = plain_file(options->state_dir);
    if (file_exists(path))
        log_info("cluster",
                 "ending the pods that run without namespaces: they will continue with namespaces");
    int result = find_holder(space, options->state_dir, options->step_path, err);
    if (result == 0)
        (void)unlink(path);
    if (result == 0)
        result = find_helpers(space, options, err);
    if (result == 0)
        open_egress(space, options);
    return result;
}

int node_namespaces_enter(const struct node_options *options, struct node_namespaces **ret,
                          struct err *err)
{
    static const char *const DIRECTORIES[] = {"run", "pods", "volumes"};
    for (size_t i = 0; i < ARRAY_SIZE(DIRECTORIES); i++) {
        _cleanup_free_ char *path = mem_printf("%s/%s", options->state_dir, DIRECTORIES[i]);
        int result = file_make_dirs(path, 0700, err);
        if (result < 0)
            return result;
    }
    raise_descriptor_limit();
    struct node_namespaces *space = mem_zalloc(sizeof(*space));
    space->nested = !namespace_probe_is_privileged();
    space->network_fd = -1;
    space->lock = mem_printf("%s/run/holder", options->state_dir);
    choose_mode(space, options);
    /* This must come before another process is started, because children inherit the control group
     * into which this process is moved. */
    space->groups = cgroup_base_open(options->state_dir, !space->nested);
    int result = space->plain ? enter_plain(space, options->state_dir, err)
                              : enter_namespaces(space, options, err);
    if (result < 0) {
        node_namespaces_abandon(space, options->state_dir);
        return result;
    }
    *ret = space;
    return 0;
}

struct node_namespaces *node_namespaces_free(struct node_namespaces *space)
{
    if (space) {
        if (space->network_fd >= 0)
            close(space->network_fd);
        free(space->lock);
        free(space->plain);
        cgroup_base_free(space->groups);
        free(space);
    }
    return NULL;
}

int node_namespaces_socket(struct node_namespaces *space, int domain, int type, int protocol,
                           int *ret_fd, struct err *err)
{
    return namespace_socket(space->network_fd, domain, type, protocol, ret_fd, err);
}

int node_pod_socket(const char *directory, int domain, int type, int protocol, int *ret_fd,
                    struct err *err)
{
    _cleanup_free_ char *lock = mem_printf("%s/lock", directory);
    _cleanup_fd_ int pidfd = -1;
    pid_t pid;
    /* The supervisor is in the pod's network. */
    int result = process_lock_holder(lock, &pidfd, &pid, err);
    if (result == -ERR_NOT_FOUND)
        return err_set(err, ERR_UNAVAILABLE, "the pod is not running");
    if (result < 0)
        return result;
    return namespace_socket(pidfd, domain, type, protocol, ret_fd, err);
}

int node_namespaces_listen(struct node_namespaces *space, int port, int *ret_fd, struct err *err)
{
    return namespace_socket_gateway(space->network_fd, SOCK_STREAM, port, ret_fd, err);
}

int node_namespaces_destroy(const char *state_dir, struct err *err)
{
    _cleanup_free_ char *path = plain_file(state_dir);
    int result = end_all(state_dir, err);
    if (result < 0)
        return result;
    unlink(path);
    return cgroup_base_destroy(state_dir, err);
}

int node_wipe(const char *state_dir, struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    return file_remove_tree(plan_handout_dir(arena, state_dir), err);
}

struct node_namespaces *node_namespaces_abandon(struct node_namespaces *space,
                                                const char *state_dir)
{
    if (space && space->is_new)
        (void)node_namespaces_destroy(state_dir, NULL);
    return node_namespaces_free(space);
}
