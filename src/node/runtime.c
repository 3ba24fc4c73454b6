/* Implements node_runtime_new() and node_runtime_free(): creates the parts of the node runtime, and
 * tells them about changed objects. */
#include "node/gpus.h"
#include "node/runtime_internal.h"

#include "node/network/egress.h"
#include "node/network/namespaces.h"
#include "node/network/pod_network.h"
#include "node/node_object.h"
#include "node/plan/kubeconfig.h"
#include "node/plan/plan.h"
#include "node/pod/sweeper.h"
#include "node/service/api_service.h"
#include "node/service/service_table.h"
#include "node/volume/claim_data.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"

#include <limits.h>
#include <stdlib.h>

enum { SYNC_POLL_MS = 10 };

/* ---- Objects ---- */

static struct kube_object *find_object(void *context, const struct kube_resource *resource,
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
    return informer ? kube_informer_get(informer, namespace_, name) : NULL;
}

static struct kube_object *find_next_service(void *context, const char *namespace_,
                                             size_t *position)
{
    struct node_runtime *runtime = context;
    return kube_informer_next(runtime->services, namespace_, position);
}

static const struct json *get_object(void *context, const struct kube_resource *resource,
                                     const char *namespace_, const char *name)
{
    struct kube_object *object = find_object(context, resource, namespace_, name);
    return object ? object->json : NULL;
}

static const struct json *runtime_next_service(void *context, const char *namespace_,
                                               size_t *position)
{
    struct kube_object *service = find_next_service(context, namespace_, position);
    return service ? service->json : NULL;
}

/* Updates the volumes that contain this config map or secret. The object may be optional, and may
 * be created after the pod has started. After a deletion the files stay, as in Kubernetes. */
static void refresh_volumes(struct node_runtime *runtime, const struct kube_resource *resource,
                            const struct kube_object *new_)
{
    const char *uid;
    void *runner;
    for (size_t at = 0; new_ && map_next(&runtime->runners, &at, &uid, &runner);)
        pod_runner_refresh(runner, resource, new_);
}

static void on_configmap_change(void *context, struct kube_object *old, struct kube_object *new_)
{
    refresh_volumes(context, &KUBE_CONFIGMAPS, new_);
}

static void on_secret_change(void *context, struct kube_object *old, struct kube_object *new_)
{
    refresh_volumes(context, &KUBE_SECRETS, new_);
}

/* Tries again to start the pods that could not start yet. A pod may wait for a claim, for a volume,
 * or for the process that holds the pod network. */
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

/* Without namespaces there are no tables, because services have no addresses and no names. */
static void runtime_services_changed(struct node_runtime *runtime)
{
    if (runtime->host.plain)
        return;
    service_proxy_changed(runtime->proxy);
    names_service_changed(runtime->names);
    host_names_changed(runtime->host.host_names);
}

/* Updates only the tables that may contain the pod, because each table is computed from all pods,
 * which takes long. */
void runtime_refresh_tables(struct node_runtime *runtime, const struct json *pod)
{
    if (runtime->host.plain)
        return;
    if (service_table_concerns(pod))
        service_proxy_changed(runtime->proxy);
    if (plan_uses_host_network(pod))
        host_names_changed(runtime->host.host_names);
}

static void on_service_or_endpoints_change(void *context, struct kube_object *old,
                                           struct kube_object *new_)
{
    struct node_runtime *runtime = context;
    if (old && !new_ && node_api_service_is(old))
        node_api_service_make(runtime->client);
    if (!runtime->sync.running)
        runtime_services_changed(runtime);
}

static void on_service_change(void *context, struct kube_object *old, struct kube_object *new_)
{
    struct node_runtime *runtime = context;
    on_service_or_endpoints_change(runtime, old, new_);
    /* The first list has services of earlier runs, whose events were sent in those runs. */
    if (!old && !runtime->sync.running && runtime->proxy)
        service_proxy_report_unsupported(runtime->proxy, new_->json);
}

static void on_volume_change(void *context, struct kube_object *old, struct kube_object *new_)
{
    struct node_runtime *runtime = context;
    if (new_)
        retry_pods(runtime);
    else if (claim_data_is_unwanted(old->json, runtime->claims, runtime->pods))
        claim_data_delete(runtime->trash, runtime->host.state_dir, old->json);
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
    runtime_find_pods(runtime);
    runtime_services_changed(runtime);
}

static struct host_names *new_host_names(struct node_runtime *runtime)
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

static int start_proxy(struct node_runtime *runtime, struct err *err)
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

static struct names_service *start_names(struct node_runtime *runtime,
                                         const struct node_options *options)
{
    const struct names_service_options names = {
        .helper = {.state_dir = runtime->host.state_dir,
                   .step_path = runtime->host.step_path,
                   .holder = runtime->host.network,
                   .argument = arena_strdup(runtime->arena, node_resolv_conf(options))},
        .services = runtime->services,
        .endpoints = runtime->endpoints,
    };
    return names_service_new(runtime->loop, &names);
}

/* Returns NULL if egress is not a program. */
static struct helper_keeper *keep_egress_alive(struct node_runtime *runtime)
{
    struct egress egress;
    struct helper_options helper = {.state_dir = runtime->host.state_dir,
                                    .step_path = runtime->host.step_path,
                                    .holder = runtime->host.network};
    if (egress_load(runtime->host.state_dir, &egress, NULL) < 0)
        return NULL;
    bool is_program = egress.kind == EGRESS_PROGRAM;
    if (is_program)
        helper.argument = arena_strdup(runtime->arena, egress.program);
    egress_release(&egress);
    return is_program ? helper_keeper_new(runtime->loop, &HELPER_EGRESS, &helper) : NULL;
}

static void on_holder_change(void *context, bool lives)
{
    struct node_runtime *runtime = context;
    node_registrar_set_network_down(
        runtime->registrar, lives ? NULL
                                  : "container runtime network not ready: the process that holds "
                                    "the pod network has ended; another is being started");
    if (lives)
        retry_pods(runtime);
}

/* Starts another holder whenever the holder ends. The pod network exists as long as this process
 * has a descriptor of it, so the new holder joins the same network. */
static void keep_holder(struct node_runtime *runtime)
{
    char network[NODE_SPACE_FILE_MAX];
    node_namespaces_network_file(runtime->host.space, network);
    const struct helper_options options = {.state_dir = runtime->host.state_dir,
                                           .step_path = runtime->host.step_path,
                                           .argument = arena_strdup(runtime->arena, network)};
    runtime->holder = helper_keeper_new(runtime->loop, &HELPER_HOLDER, &options);
    helper_keeper_on_change(runtime->holder, on_holder_change, runtime);
}

/* Starts the programs that serve the pod network. */
static int open_network(struct node_runtime *runtime, const struct node_options *options,
                        struct err *err)
{
    runtime->names = start_names(runtime, options);
    runtime->egress = keep_egress_alive(runtime);
    return start_proxy(runtime, err);
}

/* ---- Creation ---- */

static int runtime_check_names(const char *const *names, struct err *err)
{
    int count = 0;
    for (; names[count]; count++)
        if (!str_is_dns_subdomain(names[count]))
            return err_set(err, ERR_INVALID, "'%s' is not a valid node name", names[count]);
    return count <= POD_NETWORK_NODES_MAX
               ? 0
               : err_set(err, ERR_TOO_MANY, "%d nodes are requested, but the limit is %d", count,
                         POD_NETWORK_NODES_MAX);
}

static void fill_host(struct node_runtime *runtime, struct node_namespaces *space,
                      const struct node_options *options)
{
    struct arena *arena = runtime->arena;
    char path[PATH_MAX];
    _cleanup_buf_ struct buf resolv;
    buf_init(&resolv, 64 * 1024);
    (void)file_read(node_resolv_conf(options), &resolv, NULL);
    runtime->host = (struct pod_host){
        .loop = runtime->loop,
        .client = runtime->client,
        .space = space,
        .groups = node_namespaces_groups(space),
        /* The real path, because the directory must be masked in sandboxes. */
        .state_dir =
            arena_strdup(arena, realpath(options->state_dir, path) ? path : options->state_dir),
        .size = options->size,
        .handout_dir = plan_handout_dir(arena, options->state_dir),
        .api_port = options->api_port,
        .step_path = arena_strdup(arena, options->step_path),
        .prober = options->prober_path ? arena_strdup(arena, options->prober_path) : NULL,
        .trainer_path = options->trainer_path ? arena_strdup(arena, options->trainer_path) : NULL,
        .network = arena_strdup(arena, node_namespaces_holder_lock(space)),
        .nested = node_namespaces_are_nested(space),
        .plain = node_namespaces_plain(space),
        .home = getenv("HOME") ? arena_strdup(arena, getenv("HOME")) : NULL,
        .resolv_conf = arena_strndup(arena, resolv.data, resolv.size),
        .shares = options->shares,
        .objects = {get_object, runtime, runtime_next_service},
        .source = {find_object, find_next_service, runtime},
        .done = runtime_on_runner_done,
        .context = runtime,
    };
}

int node_runtime_new(struct loop *loop, struct http_transport *transport,
                     struct node_namespaces *space, const struct node_options *options,
                     struct node_runtime **ret, struct err *err)
{
    int result = runtime_check_names(options->node_names, err);
    if (result < 0)
        return result;
    struct node_runtime *runtime = mem_zalloc(sizeof(*runtime));
    runtime->loop = loop;
    runtime->arena = arena_new();
    runtime->node_names = options->node_names;
    runtime->client = kube_client_new(loop, transport, "trainyard-node");
    map_init(&runtime->runners);
    node_log_streams_init(&runtime->logs, loop);
    runtime->usage = usage_meter_new(loop, runtime_collect_usage, runtime);
    runtime->trash = trash_new(loop, options->state_dir);
    loop_timer_init(loop, &runtime->sync, on_sync);
    fill_host(runtime, space, options);
    runtime->host.host_names = new_host_names(runtime);
    runtime->host.sweeper =
        pod_sweeper_new(loop, runtime->host.handout_dir, runtime->host.plain != NULL);
    runtime_reserve_addresses(runtime);
    const struct {
        struct kube_informer **informer;
        const struct kube_resource *resource;
        kube_informer_change *change;
    } watched[] = {{&runtime->services, &KUBE_SERVICES, on_service_change},
                   {&runtime->endpoints, &KUBE_ENDPOINTS, on_service_or_endpoints_change},
                   {&runtime->configmaps, &KUBE_CONFIGMAPS, on_configmap_change},
                   {&runtime->secrets, &KUBE_SECRETS, on_secret_change},
                   {&runtime->claims, &KUBE_PVCS, on_claim_change},
                   {&runtime->volumes, &KUBE_PVS, on_volume_change}};
    for (size_t i = 0; i < ARRAY_SIZE(watched); i++)
        *watched[i].informer = kube_informer_new(runtime->client, watched[i].resource, NULL, NULL,
                                                 watched[i].change, runtime);
    /* Selects only pods that are bound to a node. There may be thousands of unbound pods, which
     * this module does not need. */
    runtime->pods = kube_informer_new_of_fields(runtime->client, &KUBE_PODS, NULL, NULL,
                                                "spec.nodeName!=", runtime_on_pod_change, runtime);
    result = runtime->host.plain ? 0 : open_network(runtime, options, err);
    if (result < 0) {
        node_runtime_free(runtime);
        return result;
    }
    /* Must come before the registrar, so that a client that sees a node also finds this service. */
    node_api_service_make(runtime->client);
    runtime->registrar = node_registrar_new(
        loop, runtime->client, runtime->host.state_dir, options->node_names, &options->size,
        gpus_count("/dev") + options->fake_gpus, runtime->host.plain);
    if (!runtime->host.plain)
        keep_holder(runtime);
    loop_timer_start(&runtime->sync, 0);
    *ret = runtime;
    return 0;
}

struct node_runtime *node_runtime_free(struct node_runtime *runtime)
{
    if (!runtime)
        return NULL;
    loop_timer_stop(&runtime->sync);
    names_service_free(runtime->names);
    helper_keeper_free(runtime->egress);
    helper_keeper_free(runtime->holder);
    service_proxy_free(runtime->proxy);
    host_names_free(runtime->host.host_names);
    node_log_streams_release(&runtime->logs);
    usage_meter_free(runtime->usage);
    trash_free(runtime->trash);
    const char *uid;
    void *runner;
    for (size_t i = 0; map_next(&runtime->runners, &i, &uid, &runner);)
        pod_runner_free(runner);
    map_release(&runtime->runners);
    pod_sweeper_free(runtime->host.sweeper);
    kube_informer_free(runtime->pods);
    kube_informer_free(runtime->services);
    kube_informer_free(runtime->endpoints);
    kube_informer_free(runtime->configmaps);
    kube_informer_free(runtime->secrets);
    kube_informer_free(runtime->claims);
    kube_informer_free(runtime->volumes);
    kube_client_free(runtime->client); /* must come before the registrar, which its callbacks use */
    node_registrar_free(runtime->registrar);
    arena_free(runtime->arena);
    free(runtime);
    return NULL;
}
