/* The node runtime: informers, one runner a pod, the cluster's names, logs. It holds the parts
 * together and decides nothing itself. */
#include "node/node.h"

#include "node/api_service.h"
#include "node/claim_data.h"
#include "node/connect.h"
#include "node/log_read.h"
#include "node/log_stream.h"
#include "node/names.h"
#include "node/node_object.h"
#include "node/peers.h"
#include "node/pod_network.h"
#include "node/pod_runner.h"
#include "node/service_proxy.h"
#include "node/space.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "net/dns_server.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { SYNC_POLL_MS = 10, DNS_PORT = 53 };

struct node_runtime {
    struct loop *loop;
    struct kube_client *client;
    struct kube_informer *pods, *services, *endpoints, *configmaps, *secrets, *claims, *volumes;
    struct node_registrar *registrar;
    struct dns_server *dns;
    struct service_proxy *proxy;
    struct arena *arena; /* what lives as long as we do */
    const char *const *node_names;
    struct pod_host host;
    struct map runners; /* by uid */
    struct node_log_streams logs;
    struct loop_timer sync; /* until every informer has its first list */
};

/* ---- Objects ---- */

static const struct json *get_object(void *context, const struct kube_resource *resource,
                                     const char *namespace_, const char *name)
{
    struct node_runtime *runtime = context;
    struct kube_informer *informer = NULL;
    if (resource == &KUBE_CONFIGMAPS)
        informer = runtime->configmaps;
    else if (resource == &KUBE_SECRETS)
        informer = runtime->secrets;
    else if (resource == &KUBE_PVCS)
        informer = runtime->claims;
    else if (resource == &KUBE_PVS)
        informer = runtime->volumes;
    struct kube_object *object = informer ? kube_informer_get(informer, namespace_, name) : NULL;
    return object ? object->json : NULL;
}

static const struct json *next_service(void *context, const char *namespace_, size_t *position)
{
    struct node_runtime *runtime = context;
    struct kube_object *service = kube_informer_next(runtime->services, namespace_, position);
    return service ? service->json : NULL;
}

/* What volumes show of a config map or secret follows it; a new one is waited for by who needs it.
 */
static void refresh_volumes(struct node_runtime *runtime, const struct kube_resource *resource,
                            const struct kube_object *old, const struct kube_object *new_)
{
    const char *uid;
    void *runner;
    for (size_t at = 0; old && new_ && map_next(&runtime->runners, &at, &uid, &runner);)
        pod_runner_refresh(runner, resource, new_);
}

static void on_configmap_change(void *context, struct kube_object *old, struct kube_object *new_)
{
    refresh_volumes(context, &KUBE_CONFIGMAPS, old, new_);
}

static void on_secret_change(void *context, struct kube_object *old, struct kube_object *new_)
{
    refresh_volumes(context, &KUBE_SECRETS, old, new_);
}

/* A pod may have waited for a claim to be bound, or for its volume. */
static void retry_pods(struct node_runtime *runtime)
{
    const char *uid;
    void *runner;
    for (size_t at = 0; map_next(&runtime->runners, &at, &uid, &runner);)
        pod_runner_retry(runner);
}

static void on_claim_change(void *context, struct kube_object *old, struct kube_object *new_)
{
    if (new_)
        retry_pods(context);
}

static void routes_changed(struct node_runtime *runtime)
{
    service_proxy_changed(runtime->proxy);
    host_names_changed(runtime->host.host_names);
}

static void on_route_change(void *context, struct kube_object *old, struct kube_object *new_)
{
    struct node_runtime *runtime = context;
    if (old && !new_ && node_api_service_is(old))
        node_api_service_make(runtime->client);
    if (!runtime->sync.running)
        routes_changed(runtime);
}

static void on_service_change(void *context, struct kube_object *old, struct kube_object *new_)
{
    struct node_runtime *runtime = context;
    on_route_change(runtime, old, new_);
    if (!old && !runtime->sync.running) /* before, it is one we know from an earlier life */
        service_proxy_announce(runtime->proxy, new_->json);
}

static void on_volume_change(void *context, struct kube_object *old, struct kube_object *new_)
{
    struct node_runtime *runtime = context;
    if (new_)
        retry_pods(runtime);
    else if (claim_data_is_unwanted(old->json, runtime->claims, runtime->pods))
        claim_data_delete(runtime->loop, runtime->host.state_dir, old->json);
}

/* ---- Pods ---- */

static int node_number(const struct node_runtime *runtime, const struct json *pod)
{
    const char *name = json_get_string(json_get(pod, "spec"), "nodeName", "");
    for (int i = 0; runtime->node_names[i]; i++)
        if (str_eq(runtime->node_names[i], name))
            return i;
    return -1;
}

static void see_pod(struct node_runtime *runtime, struct kube_object *pod)
{
    struct pod_runner *runner = map_get(&runtime->runners, pod->uid);
    int node = node_number(runtime, pod->json);
    if (runner) {
        pod_runner_update(runner, pod);
    } else if (node >= 0 && str_is_dns_subdomain(pod->uid)) { /* it becomes part of a path */
        runner =
            pod_runner_new(&runtime->host, pod, node, node_object_address(runtime->arena, node));
        map_put(&runtime->runners, pod->uid, runner);
    }
}

static void forget_pod(struct node_runtime *runtime, const struct kube_object *pod)
{
    struct pod_runner *runner = map_get(&runtime->runners, pod->uid);
    if (runner)
        pod_runner_forget(runner);
}

static void on_pod_change(void *context, struct kube_object *old, struct kube_object *new_)
{
    struct node_runtime *runtime = context;
    if (runtime->sync.running)
        return; /* on_sync sees them all */
    if (old && (!new_ || !str_eq(old->uid, new_->uid)))
        forget_pod(runtime, old);
    if (new_)
        see_pod(runtime, new_);
    routes_changed(runtime);
}

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

/* With the last pod of a job goes what its pods shared. */
static void on_runner_done(void *context, const char *uid)
{
    struct node_runtime *runtime = context;
    struct pod_runner *runner = map_remove(&runtime->runners, uid);
    const char *peers = pod_runner_peers(runner);
    struct err err = ERR_INIT;
    if (peers && !has_peers(runtime, peers) &&
        peers_remove(runtime->host.state_dir, peers, &err) < 0)
        log_warning(peers, "%s", err.message);
    pod_runner_free(runner);
}

/* Visit the directories of pods on disk. */
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

/* Before any address is given out: those of pods that may still run are taken. */
static void reserve_address(struct node_runtime *runtime, const char *uid, const char *directory)
{
    _cleanup_free_ char *path = mem_printf("%s/spec", directory);
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    _cleanup_buf_ struct buf text;
    _cleanup_pod_state_ struct pod_state state = {0};
    struct pod_spec spec;
    buf_init(&text, POD_SPEC_MAX);
    if ((pod_state_load(directory, &state, NULL) == 0 && state.finished) ||
        file_read(path, &text, NULL) < 0 ||
        pod_spec_parse(arena, text.data, text.size, &spec, NULL) < 0)
        return;
    addresses_reserve(&runtime->host.addresses, spec.address);
}

/* A pod that was deleted while we were away leaves its directory, and perhaps its processes. */
static void sweep(struct node_runtime *runtime, const char *uid, const char *directory)
{
    if (map_get(&runtime->runners, uid))
        return;
    log_info(uid, "ending a pod that is not known any more");
    struct err err = ERR_INIT;
    if (node_pod_end(directory, 0, &err) < 0 || file_remove_tree(directory, &err) < 0)
        log_warning(uid, "%s", err.message);
}

static void on_sync(struct loop_timer *timer)
{
    struct node_runtime *runtime = CONTAINER_OF(timer, struct node_runtime, sync);
    struct kube_informer *const all[] = {runtime->pods,       runtime->services, runtime->endpoints,
                                         runtime->configmaps, runtime->secrets,  runtime->claims,
                                         runtime->volumes};
    for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
        if (!kube_informer_synced(all[i])) {
            loop_timer_start(timer, SYNC_POLL_MS);
            return;
        }
    }
    size_t position = 0;
    for (struct kube_object *pod; (pod = kube_informer_next(runtime->pods, NULL, &position));)
        see_pod(runtime, pod);
    each_directory(runtime, sweep);
    peers_sweep(runtime->host.state_dir, has_peers, runtime);
    routes_changed(runtime);
}

/* ---- Names ---- */

static const struct json *get_service(void *context, const char *namespace_, const char *name)
{
    struct node_runtime *runtime = context;
    struct kube_object *service = kube_informer_get(runtime->services, namespace_, name);
    return service ? service->json : NULL;
}

static const struct json *next_pod(void *context, const char *namespace_, size_t *position)
{
    struct node_runtime *runtime = context;
    struct kube_object *pod = kube_informer_next(runtime->pods, namespace_, position);
    return pod ? pod->json : NULL;
}

static int lookup_name(void *context, const char *name, struct dns_found *ret)
{
    const struct names_source source = {get_service, next_pod, context};
    return names_lookup(&source, name, ret);
}

static int bind_dns(struct node_space *space, int *ret_fd, struct err *err)
{
    _cleanup_fd_ int fd = -1;
    int result = node_space_socket(space, AF_INET, SOCK_DGRAM, 0, &fd, err);
    if (result < 0)
        return result;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(DNS_PORT)};
    inet_pton(AF_INET, POD_NETWORK_GATEWAY, &address.sin_addr);
    if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
        return err_set_errno(err, errno,
                             "cannot serve names on " POD_NETWORK_GATEWAY
                             ": is another trainyard using this state");
    *ret_fd = TAKE_FD(fd);
    return 0;
}

static int serve_names(struct node_runtime *runtime, struct node_space *space, struct err *err)
{
    _cleanup_fd_ int udp = -1, tcp = -1;
    int result;
    if ((result = bind_dns(space, &udp, err)) < 0 ||
        (result = node_space_listen(space, DNS_PORT, &tcp, err)) < 0 ||
        (result =
             dns_server_new(runtime->loop, udp, tcp, lookup_name, runtime, &runtime->dns, err)) < 0)
        return result;
    udp = tcp = -1; /* the server's now */
    return 0;
}

static struct host_names *name_services(struct node_runtime *runtime)
{
    const struct host_names_options options = {
        .loop = runtime->loop,
        .state_dir = runtime->host.state_dir,
        .node_names = runtime->node_names,
        .pods = &runtime->pods,
        .services = &runtime->services,
    };
    return host_names_new(&options);
}

static int serve_services(struct node_runtime *runtime, struct err *err)
{
    const struct service_proxy_options options = {
        .host = &runtime->host,
        .node_names = runtime->node_names,
        .services = runtime->services,
        .endpoints = runtime->endpoints,
        .pods = runtime->pods,
    };
    return service_proxy_new(&options, &runtime->proxy, err);
}

/* ---- Logs ---- */

static void send_logs(void *context, struct http_exchange *exchange, const struct json *pod,
                      const struct engine_pod_logs *options)
{
    struct node_runtime *runtime = context;
    struct err err = ERR_INIT;
    const struct pod_runner *runner = map_get(&runtime->runners, kube_meta_uid(pod));
    const char *name = NULL;
    int64_t run;
    if (node_log_choose_container(exchange->arena, pod, options->container, &name, &err) < 0 ||
        node_log_choose_run(runner ? pod_runner_container(runner, name) : NULL, kube_meta_name(pod),
                            name, options->previous, &run, &err) < 0) {
        engine_respond_error(exchange, &err);
        return;
    }
    node_log_streams_add(&runtime->logs, exchange, pod_runner_directory(runner), name, run,
                         options);
}

/* ---- Ports ---- */

static void *connect_port(void *context, const struct json *pod, int port,
                          engine_connect_done *done, void *done_context)
{
    struct node_runtime *runtime = context;
    const struct json *spec = json_get(pod, "spec"), *status = json_get(pod, "status");
    const struct pod_runner *runner = map_get(&runtime->runners, kube_meta_uid(pod));
    bool host_network = json_get_bool(spec, "hostNetwork", false);
    /* Of a pod that is gone there is no directory, and the message says that it is not running. */
    return node_connect_inside(runtime->loop,
                               host_network ? NULL
                               : runner     ? pod_runner_directory(runner)
                                            : "",
                               json_get_string(status, "podIP", NULL), port, done, done_context);
}

static void cancel_connect(void *connect)
{
    node_connect_cancel(connect);
}

struct engine_pod_backend node_runtime_backend(struct node_runtime *runtime)
{
    return (struct engine_pod_backend){
        .logs = send_logs,
        .connect = connect_port,
        .connect_cancel = cancel_connect,
        .context = runtime,
    };
}

/* ---- The whole ---- */

static int check_names(const char *const *names, struct err *err)
{
    int count = 0;
    for (; names[count]; count++)
        if (!str_is_dns_subdomain(names[count]))
            return err_set(err, ERR_INVALID, "'%s' is no name of a node", names[count]);
    return count <= POD_NETWORK_NODES_MAX
               ? 0
               : err_set(err, ERR_TOO_MANY, "more than %d nodes", POD_NETWORK_NODES_MAX);
}

static void fill_host(struct node_runtime *runtime, struct node_space *space,
                      const struct node_options *options)
{
    struct arena *arena = runtime->arena;
    char path[PATH_MAX];
    _cleanup_buf_ struct buf resolv;
    buf_init(&resolv, 64 * 1024);
    (void)file_read("/etc/resolv.conf", &resolv, NULL);
    runtime->host = (struct pod_host){
        .loop = runtime->loop,
        .client = runtime->client,
        .space = space,
        /* The real path: it is what must be covered in sandboxes. */
        .state_dir =
            arena_strdup(arena, realpath(options->state_dir, path) ? path : options->state_dir),
        .api_port = options->api_port,
        .step_path = arena_strdup(arena, options->step_path),
        .trainer_path = options->trainer_path ? arena_strdup(arena, options->trainer_path) : NULL,
        .network = arena_strdup(arena, node_space_network(space)),
        .nested = node_space_is_nested(space),
        .home = getenv("HOME") ? arena_strdup(arena, getenv("HOME")) : NULL,
        .resolv_conf = arena_strndup(arena, resolv.data, resolv.size),
        .objects = {get_object, runtime, next_service},
        .done = on_runner_done,
        .context = runtime,
    };
}

int node_runtime_new(struct loop *loop, struct http_transport *transport, struct node_space *space,
                     const struct node_options *options, struct node_runtime **ret, struct err *err)
{
    int result = check_names(options->node_names, err);
    if (result < 0)
        return result;
    struct node_runtime *runtime = mem_zalloc(sizeof(*runtime));
    runtime->loop = loop;
    runtime->arena = arena_new();
    runtime->node_names = options->node_names;
    runtime->client = kube_client_new(loop, transport, "trainyard-node");
    map_init(&runtime->runners);
    node_log_streams_init(&runtime->logs, loop);
    loop_timer_init(loop, &runtime->sync, on_sync);
    fill_host(runtime, space, options);
    runtime->host.host_names = name_services(runtime);
    result = serve_names(runtime, space, err);
    if (result < 0) {
        node_runtime_free(runtime);
        return result;
    }
    each_directory(runtime, reserve_address);
    const struct {
        struct kube_informer **informer;
        const struct kube_resource *resource;
        kube_informer_change *change;
    } watched[] = {{&runtime->services, &KUBE_SERVICES, on_service_change},
                   {&runtime->endpoints, &KUBE_ENDPOINTS, on_route_change},
                   {&runtime->configmaps, &KUBE_CONFIGMAPS, on_configmap_change},
                   {&runtime->secrets, &KUBE_SECRETS, on_secret_change},
                   {&runtime->claims, &KUBE_PVCS, on_claim_change},
                   {&runtime->volumes, &KUBE_PVS, on_volume_change}};
    for (size_t i = 0; i < ARRAY_SIZE(watched); i++)
        *watched[i].informer = kube_informer_new(runtime->client, watched[i].resource, NULL, NULL,
                                                 watched[i].change, runtime);
    /* A pod that is on no node yet is nothing to us, and of those there may be thousands. */
    runtime->pods = kube_informer_new_of_fields(runtime->client, &KUBE_PODS, NULL, NULL,
                                                "spec.nodeName!=", on_pod_change, runtime);
    result = serve_services(runtime, err);
    if (result < 0) {
        node_runtime_free(runtime);
        return result;
    }
    node_api_service_make(runtime->client); /* before the nodes: who finds them finds it */
    runtime->registrar = node_registrar_new(loop, runtime->client, options->node_names);
    loop_timer_start(&runtime->sync, 0);
    *ret = runtime;
    return 0;
}

struct node_runtime *node_runtime_free(struct node_runtime *runtime)
{
    if (!runtime)
        return NULL;
    loop_timer_stop(&runtime->sync);
    if (runtime->dns)
        dns_server_close(runtime->dns);
    service_proxy_free(runtime->proxy);
    host_names_free(runtime->host.host_names);
    node_log_streams_release(&runtime->logs);
    const char *uid;
    void *runner;
    for (size_t i = 0; map_next(&runtime->runners, &i, &uid, &runner);)
        pod_runner_free(runner);
    map_release(&runtime->runners);
    kube_informer_free(runtime->pods);
    kube_informer_free(runtime->services);
    kube_informer_free(runtime->endpoints);
    kube_informer_free(runtime->configmaps);
    kube_informer_free(runtime->secrets);
    kube_informer_free(runtime->claims);
    kube_informer_free(runtime->volumes);
    kube_client_free(runtime->client); /* before those its answers go to */
    node_registrar_free(runtime->registrar);
    arena_free(runtime->arena);
    free(runtime);
    return NULL;
}
