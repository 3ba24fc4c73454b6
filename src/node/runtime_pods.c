/* Keeps one runner per pod of this machine: per pod that is bound to one of its nodes, or that an
 * earlier start has run here. Also removes the files and processes of pods that the API does not
 * have any more. */
#include "node/runtime_internal.h"

#include "node/limits/cgroup_base.h"
#include "node/node_object.h"
#include "node/pod/peers.h"
#include "node/pod/sweeper.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"

#include <dirent.h>
#include <unistd.h>

/* Returns the index of the pod's node in node_names, or POD_NODE_AWAY. */
static int node_number(const struct node_runtime *runtime, const struct json *pod)
{
    const char *name = json_get_string(json_get(pod, "spec"), "nodeName", "");
    for (int i = 0; runtime->node_names[i]; i++)
        if (str_eq(runtime->node_names[i], name))
            return i;
    return POD_NODE_AWAY;
}

/* Returns true if the pod has a directory on this machine. A node that this start does not have may
 * belong to an earlier start or to another machine. */
static bool was_run_here(const struct node_runtime *runtime, const struct kube_object *pod)
{
    _cleanup_free_ char *directory = mem_printf("%s/pods/%s", runtime->host.state_dir, pod->uid);
    return access(directory, F_OK) == 0;
}

/* `node` is the result of node_number(). */
static const char *node_address(const struct node_runtime *runtime, const struct json *pod,
                                int node)
{
    return node == POD_NODE_AWAY ? json_get_string(json_get(pod, "status"), "hostIP", "")
                                 : node_object_address(runtime->arena, node);
}

/* Passes the pod to its runner. Creates the runner if the pod belongs to this machine. */
static void runtime_take_pod(struct node_runtime *runtime, struct kube_object *pod)
{
    struct pod_runner *runner = map_get(&runtime->runners, pod->uid);
    int node = node_number(runtime, pod->json);
    if (runner) {
        pod_runner_update(runner, pod);
    } else if (str_is_dns_subdomain(pod->uid) && /* the uid becomes part of a path */
               (node != POD_NODE_AWAY || was_run_here(runtime, pod))) {
        runner = pod_runner_new(&runtime->host, pod, node, node_address(runtime, pod->json, node));
        map_put(&runtime->runners, pod->uid, runner);
    }
}

static void forget_pod(struct node_runtime *runtime, const struct kube_object *pod)
{
    struct pod_runner *runner = map_get(&runtime->runners, pod->uid);
    if (runner)
        pod_runner_forget(runner);
}

void runtime_on_pod_change(void *context, struct kube_object *old, struct kube_object *new_)
{
    struct node_runtime *runtime = context;
    if (runtime->sync.running)
        return; /* runtime_find_pods() will start runners for all pods */
    if (old && (!new_ || !str_eq(old->uid, new_->uid)))
        forget_pod(runtime, old);
    if (new_)
        runtime_take_pod(runtime, new_);
    if (old)
        runtime_refresh_tables(runtime, old->json);
    if (new_)
        runtime_refresh_tables(runtime, new_->json);
}

/* Returns true if a runner's pod uses the peers directory of this name (pod/peers.h). */
static bool has_peers(void *context, const char *name)
{
    struct node_runtime *runtime = context;
    const char *uid;
    void *runner;
    for (size_t at = 0; map_next(&runtime->runners, &at, &uid, &runner);)
        if (str_eq(pod_runner_peers(runner), name))
            return true;
    return false;
}

/* After the last pod of a job, also removes the directory that the pods of the job shared. */
void runtime_on_runner_done(void *context, const char *uid)
{
    struct node_runtime *runtime = context;
    struct pod_runner *runner = map_remove(&runtime->runners, uid);
    const char *peers = pod_runner_peers(runner);
    if (peers && !has_peers(runtime, peers))
        peers_throw(runtime->trash, runtime->host.state_dir, peers, uid);
    pod_runner_free(runner);
}

/* Calls `visit` for each directory of a pod in <state>/pods. `uid` is the name of the directory. */
static void each_directory(struct node_runtime *runtime,
                           void (*visit)(struct node_runtime *runtime, const char *uid,
                                         const char *directory))
{
    _cleanup_free_ char *root = mem_printf("%s/pods", runtime->host.state_dir);
    DIR *directory = opendir(root);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        if (entry->d_name[0] == '.')
            continue;
        _cleanup_free_ char *path = mem_printf("%s/%s", root, entry->d_name);
        visit(runtime, entry->d_name, path);
    }
    if (directory)
        closedir(directory);
}

/* Reserves the address of a pod that may still run. */
static void reserve_address(struct node_runtime *runtime, const char *uid, const char *directory)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    _cleanup_pod_state_ struct pod_state state = {0};
    struct pod_spec spec;
    if ((pod_state_load(directory, &state, NULL) == 0 && state.finished) ||
        pod_spec_load(arena, directory, &spec, NULL) < 0)
        return;
    addresses_reserve(&runtime->host.addresses, spec.address);
}

/* Schedules the removal of a pod without a runner, which was deleted while no server ran. */
static void runtime_sweep_pods(struct node_runtime *runtime, const char *uid, const char *directory)
{
    if (map_get(&runtime->runners, uid))
        return;
    log_info(uid, "ending a pod that the API does not have any more");
    pod_sweeper_add(runtime->host.sweeper, uid, directory, POD_REMAINS_PROCESSES);
}

void runtime_collect_usage(void *context, struct usage_sample *sample)
{
    struct node_runtime *runtime = context;
    const char *uid;
    void *runner;
    for (size_t at = 0; map_next(&runtime->runners, &at, &uid, &runner);)
        pod_runner_collect_usage(runner, sample);
}

static bool has_runner(void *context, const char *uid)
{
    struct node_runtime *runtime = context;
    return map_get(&runtime->runners, uid) != NULL;
}

void runtime_reserve_addresses(struct node_runtime *runtime)
{
    each_directory(runtime, reserve_address);
}

void runtime_find_pods(struct node_runtime *runtime)
{
    size_t position = 0;
    for (struct kube_object *pod; (pod = kube_informer_next(runtime->pods, NULL, &position));)
        runtime_take_pod(runtime, pod);
    each_directory(runtime, runtime_sweep_pods);
    cgroup_base_sweep(runtime->host.state_dir, runtime->host.groups, has_runner, runtime);
    peers_sweep(runtime->trash, runtime->host.state_dir, has_peers, runtime);
}
