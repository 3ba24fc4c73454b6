/* Writes the EndpointSlices of each service. They contain the service's pods if it has a selector,
 * else the addresses of its Endpoints, which other clients write. The owner of a slice is the
 * Service or the Endpoints; the garbage collector deletes the slice with it. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/controllers/controllers.h"
#include "engine/controllers/endpoint_slice.h"
#include "engine/controllers/workloads.h"
#include "kube/kinds/service/service_spec.h"
#include "kube/object.h"
#include "kube/selector.h"

#include <stdlib.h>

enum { STAGE_ACTIONS, STAGES };

struct slice_run {
    struct workload_run run; /* must be first */
    struct endpoint_slice_action *actions;
    size_t count;
};

/* Returns the name of a write for workloads_run_wrote(). The write is complete when the informer
 * shows this version of the slice. */
static char *endpoint_slice_version_of(const struct json *slice)
{
    return mem_printf("%s@%s", kube_meta_uid(slice), kube_meta_resource_version(slice));
}

/* ---- Carrying out a plan --------------------------------------------------------------------- */

static void on_endpoint_slice_answer(void *context, struct json *object, const struct err *err)
{
    struct slice_run *run = context;
    if (err && err->code != ERR_NOT_FOUND)
        run->run.pass.failed = true;
    kube_pass_answered(&run->run.pass);
}

static void on_endpoint_slice_written(void *context, struct json *slice, const struct err *err)
{
    struct slice_run *run = context;
    if (!err) {
        _cleanup_free_ char *write = endpoint_slice_version_of(slice);
        const struct kube_object *seen =
            kube_informer_get(hub_informer(run->run.hub, "endpointslices.discovery.k8s.io"),
                              kube_meta_namespace(slice), kube_meta_name(slice));
        if (!seen ||
            !str_eq(kube_meta_resource_version(seen->json), kube_meta_resource_version(slice)))
            workloads_run_wrote(&run->run, write);
    }
    on_endpoint_slice_answer(context, slice, err);
}

static bool endpoint_slice_start_next(struct kube_pass *pass)
{
    struct slice_run *run = CONTAINER_OF(pass, struct slice_run, run.pass);
    if (pass->position == run->count)
        return false;
    const struct endpoint_slice_action *action = &run->actions[pass->position++];
    const char *namespace_ = pass->workload->namespace_, *name = kube_meta_name(action->slice);
    struct kube_delete_options options = {.grace_period_seconds = -1,
                                          .uid = kube_meta_uid(action->slice)};
    switch (action->step) {
    case ENDPOINT_SLICE_CREATE:
        kube_create(pass->client, &KUBE_ENDPOINTSLICES, namespace_, action->slice,
                    on_endpoint_slice_written, run);
        break;
    case ENDPOINT_SLICE_UPDATE:
        kube_update(pass->client, &KUBE_ENDPOINTSLICES, namespace_, name, action->slice,
                    on_endpoint_slice_written, run);
        break;
    case ENDPOINT_SLICE_DELETE:
        kube_delete(pass->client, &KUBE_ENDPOINTSLICES, namespace_, name, &options,
                    on_endpoint_slice_answer, run);
        break;
    }
    return true;
}

static const struct kube_pass_stages RUN_STAGES = {STAGES, endpoint_slice_start_next, NULL};

/* ---- Deciding -------------------------------------------------------------------------------- */

static void endpoint_slice_gather_pods(struct slice_run *run, const struct kube_selector *selector,
                                       struct endpoint_slice_observed *observed)
{
    struct kube_pass *pass = &run->run.pass;
    struct kube_informer *informer = hub_informer(run->run.hub, "pods");
    VEC(struct kube_object *) pods = {0};
    struct kube_object *pod;
    for (size_t at = 0; (pod = kube_informer_next(informer, pass->workload->namespace_, &at));)
        if (kube_selector_matches(selector, kube_meta_labels(pod->json)))
            vec_push(&pods, pod);
    observed->pods = kube_pass_hold_all(pass, pods.items, pods.count);
    observed->pod_count = pods.count;
    vec_release(&pods);
}

static void gather_slices(struct slice_run *run, const char *manager,
                          struct endpoint_slice_observed *observed)
{
    struct kube_pass *pass = &run->run.pass;
    struct kube_informer *informer = hub_informer(run->run.hub, "endpointslices.discovery.k8s.io");
    VEC(struct kube_object *) slices = {0};
    struct kube_object *slice;
    for (size_t at = 0; (slice = kube_informer_next(informer, pass->workload->namespace_, &at));)
        if (str_eq(kube_meta_label(slice->json, ENDPOINT_SLICE_SERVICE), pass->workload->name) &&
            str_eq(kube_meta_label(slice->json, ENDPOINT_SLICE_MANAGER), manager) &&
            !kube_meta_is_deleting(slice->json))
            vec_push(&slices, slice);
    observed->slices = kube_pass_hold_all(pass, slices.items, slices.count);
    observed->slice_count = slices.count;
    vec_release(&slices);
}

static void endpoint_slice_make_plan(struct workload_run *workload_run)
{
    struct slice_run *run = CONTAINER_OF(workload_run, struct slice_run, run);
    struct kube_pass *pass = &run->run.pass;
    const struct json *service = pass->workload->json;
    const struct json *map = json_at(service, "spec", "selector", NULL);
    struct endpoint_slice_observed observed = {.service = service};
    struct kube_selector selector;
    if (kube_meta_is_deleting(service) || service_is(json_get(service, "spec"), "ExternalName") ||
        kube_selector_from_map(pass->arena, map, &selector, NULL) < 0)
        return;
    if (json_count(map) > 0) {
        endpoint_slice_gather_pods(run, &selector, &observed);
        gather_slices(run, ENDPOINT_SLICE_OURS, &observed);
    } else {
        struct kube_object *endpoints =
            kube_informer_get(hub_informer(run->run.hub, "endpoints"), pass->workload->namespace_,
                              pass->workload->name);
        if (!endpoints ||
            str_eq(kube_meta_label(endpoints->json, ENDPOINT_SLICE_SKIP_LABEL), "true"))
            return;
        observed.endpoints = kube_pass_hold(pass, endpoints);
        gather_slices(run, ENDPOINT_SLICE_MIRRORED, &observed);
    }
    run->actions = endpoint_slice_plan(pass->arena, &observed, &run->count);
}

static const struct workload_kind SERVICES = {
    .storage = "services",
    .component = "endpoint-slice-controller",
    .stages = &RUN_STAGES,
    .run_size = sizeof(struct slice_run),
    .plan = endpoint_slice_make_plan,
};

/* ---- Changes of objects ---------------------------------------------------------------------- */

static void pod_changed(struct workloads *services, const struct kube_object *pod)
{
    struct kube_informer *informer = hub_informer(services->hub, "services");
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct kube_object *service;
    struct kube_selector selector;
    for (size_t at = 0; (service = kube_informer_next(informer, pod->namespace_, &at));)
        if (kube_selector_from_map(arena, json_at(service->json, "spec", "selector", NULL),
                                   &selector, NULL) == 0 &&
            kube_selector_matches(&selector, kube_meta_labels(pod->json)))
            workloads_add(services, service->namespace_, service->name);
}

static void on_endpoint_slice_changed(void *self, struct kube_object *old, struct kube_object *new_)
{
    struct workloads *services = self;
    const struct kube_object *slice = new_ ? new_ : old;
    const char *name = kube_meta_label(slice->json, ENDPOINT_SLICE_SERVICE);
    _cleanup_free_ char *write = endpoint_slice_version_of(slice->json);
    if (!name)
        return;
    workloads_saw(services, slice->namespace_, name, write);
    workloads_add(services, slice->namespace_, name);
}

/* Called for a Service or for Endpoints, which have the name of their service. */
static void on_endpoint_slice_service_changed(void *self, struct kube_object *old,
                                              struct kube_object *new_)
{
    const struct kube_object *object = new_ ? new_ : old;
    workloads_add(self, object->namespace_, object->name);
}

static void on_endpoint_slice_pod_changed(void *self, struct kube_object *old,
                                          struct kube_object *new_)
{
    if (old)
        pod_changed(self, old);
    if (new_)
        pod_changed(self, new_);
}

static void *endpoint_slice_controller_start(struct hub *hub)
{
    struct workloads *services = mem_zalloc(sizeof(*services));
    workloads_init(services, hub, &SERVICES);
    return services;
}

static void endpoint_slice_controller_stop(void *self)
{
    workloads_release(self);
    free(self);
}

static const struct controller_watch ENDPOINT_SLICE_WATCHES[] = {
    {"services", on_endpoint_slice_service_changed},
    {"endpoints", on_endpoint_slice_service_changed},
    {"endpointslices.discovery.k8s.io", on_endpoint_slice_changed},
    {"pods", on_endpoint_slice_pod_changed},
    {NULL, NULL},
};

const struct controller ENDPOINT_SLICE_CONTROLLER = {
    .start = endpoint_slice_controller_start,
    .stop = endpoint_slice_controller_stop,
    .watches = ENDPOINT_SLICE_WATCHES,
};
