/* Handles GET and LIST of metrics.k8s.io, for `kubectl top`. Metrics are not stored: for each
 * request, the nodes' backend measures all pods. The response waits for the measurement. */
#include "base/moment.h"
#include "base/str.h"
#include "engine/api/handlers.h"
#include "kube/object.h"
#include "kube/quantity.h"

#include <stdio.h>
#include <stdlib.h>

/* A request that waits for the measurement. Allocated in the exchange's arena. */
struct metrics_request {
    struct api_call *call;
    const struct kube_kind *measured; /* the kind of the measured objects: Pod or Node */
    struct api_filter filter;         /* selects the measured objects of a list */
    void *measurement;                /* the backend's handle for the running measurement */
};

static void set_quantity(struct arena *arena, struct json *usage, const char *name,
                         const struct kube_quantity *quantity)
{
    char text[KUBE_QUANTITY_TEXT_MAX];
    kube_quantity_format(quantity, text);
    json_set_string(arena, usage, name, text);
}

static void set_usage(struct arena *arena, struct json *target, const struct engine_usage *usage)
{
    enum { NANO = 1000000000 };
    const struct kube_quantity cpu = {usage->cpu_nano, KUBE_QUANTITY_DECIMAL};
    const struct kube_quantity memory = {(__int128)usage->memory_bytes * NANO,
                                         KUBE_QUANTITY_BINARY};
    struct json *object = json_ensure_object(arena, target, "usage");
    set_quantity(arena, object, "cpu", &cpu);
    set_quantity(arena, object, "memory", &memory);
}

/* Returns a duration in Go's notation: "1m0.5s". */
static const char *span_text(struct arena *arena, int64_t ms)
{
    char seconds[32];
    int size = snprintf(seconds, sizeof(seconds), "%lld.%03lld", (long long)(ms / 1000 % 60),
                        (long long)(ms % 1000));
    while (seconds[size - 1] == '0')
        size--;
    size -= seconds[size - 1] == '.';
    return ms >= 60000 ? arena_printf(arena, "%lldm%.*ss", (long long)(ms / 60000), size, seconds)
                       : arena_printf(arena, "%.*ss", size, seconds);
}

/* Makes a PodMetrics or NodeMetrics without the usage. */
static struct json *metrics_begin(const struct metrics_request *metrics, struct arena *arena,
                                  const struct json *object,
                                  const struct engine_usage_report *report)
{
    const struct kube_kind *resource = metrics->call->route.resource;
    char now[MOMENT_TEXT_MAX];
    moment_format(report->taken_ms, now);
    struct json *made = json_object(arena);
    json_set_string(arena, made, "kind", resource->id.kind);
    json_set_string(arena, made, "apiVersion", resource->api_version);
    struct json *meta = json_ensure_object(arena, made, "metadata");
    json_set_string(arena, meta, "name", kube_meta_name(object));
    if (resource->id.namespaced)
        json_set_string(arena, meta, "namespace", kube_meta_namespace(object));
    json_set_string(arena, meta, "creationTimestamp", now);
    if (json_count(kube_meta_labels(object)))
        json_set(arena, meta, "labels", json_clone(arena, kube_meta_labels(object)));
    json_set_string(arena, made, "timestamp", now);
    json_set_string(arena, made, "window", span_text(arena, report->window_ms));
    return made;
}

/* Returns the metrics of a pod or node, or NULL for a pod that the report does not have. */
static struct json *metrics_measure(const struct metrics_request *metrics, struct arena *arena,
                                    const struct json *object,
                                    const struct engine_usage_report *report)
{
    if (!metrics->measured->id.namespaced) {
        struct json *made = metrics_begin(metrics, arena, object, report);
        set_usage(arena, made, &report->machine);
        return made;
    }
    const struct engine_pod_usage *pod = NULL;
    for (size_t i = 0; i < report->count && !pod; i++)
        if (str_eq(report->pods[i].uid, kube_meta_uid(object)))
            pod = &report->pods[i];
    if (!pod)
        return NULL;
    struct json *made = metrics_begin(metrics, arena, object, report);
    struct json *containers = json_ensure_array(arena, made, "containers");
    for (size_t i = 0; i < pod->count; i++) {
        struct json *container = json_object(arena);
        json_set_string(arena, container, "name", pod->containers[i].name);
        set_usage(arena, container, &pod->containers[i].usage);
        json_append(containers, container);
    }
    return made;
}

/* Responds to a GET. */
static void answer_one(struct metrics_request *metrics, const struct engine_usage_report *report)
{
    struct api_call *call = metrics->call;
    struct err err = ERR_INIT;
    struct json *object, *made = NULL;
    const char *key =
        stored_key(call->arena, metrics->measured, call->route.namespace_, call->route.name);
    struct store_object *stored = store_get(engine_store(call->engine), key);
    if (!stored) {
        err_set(&err, ERR_NOT_FOUND, "%s \"%s\" not found", metrics->measured->id.plural,
                call->route.name);
    } else if (stored_read(call->arena, stored, &object, &err) == 0) {
        made = metrics_measure(metrics, call->arena, object, report);
        if (!made)
            err_set(&err, ERR_NOT_FOUND, "podmetrics.metrics.k8s.io \"%s/%s\" not found",
                    call->route.namespace_, call->route.name);
    }
    if (stored)
        store_object_unref(stored);
    if (made)
        api_respond_json(call, 200, made);
    else
        api_respond_error(call, &err);
}

/* Calls `add` with the metrics of each object that the filter selects, in the order of namespace
 * and name. Leaves out pods without metrics. */
static void each_measured(struct metrics_request *metrics, const struct engine_usage_report *report,
                          void (*add)(void *context, struct json *made), void *context)
{
    struct api_call *call = metrics->call;
    struct store_object **objects;
    size_t count = store_list(
        engine_store(call->engine),
        stored_key(call->arena, metrics->measured, call->route.namespace_, NULL), &objects);
    for (size_t i = 0; i < count; i++) {
        struct json *object, *made = NULL;
        if (api_read_stored(call, call->arena, objects[i], &object) &&
            api_filter_matches(&metrics->filter, object))
            made = metrics_measure(metrics, call->arena, object, report);
        if (made)
            add(context, made);
        store_object_unref(objects[i]);
    }
    free(objects);
}

static void add_formed(void *context, struct json *made)
{
    api_formed_list_add(context, made);
}

/* The items of a typed list have no kind and apiVersion. */
static void add_item(void *context, struct json *made)
{
    json_remove(made, "kind");
    json_remove(made, "apiVersion");
    json_append(context, made);
}

/* Responds to a LIST. */
static void answer_list(struct metrics_request *metrics, const struct engine_usage_report *report)
{
    struct api_call *call = metrics->call;
    struct json *meta = json_object(call->arena);
    if (call->table || call->partial) {
        struct api_formed_list formed;
        struct err err = ERR_INIT;
        if (api_formed_list_begin(call, meta, &formed, &err) < 0) {
            api_respond_error(call, &err);
            return;
        }
        each_measured(metrics, report, add_formed, &formed);
        api_respond_json(call, 200, formed.list);
        return;
    }
    struct json *list = json_object(call->arena);
    json_set_string(call->arena, list, "kind", call->route.resource->list_kind);
    json_set_string(call->arena, list, "apiVersion", call->route.resource->api_version);
    json_set(call->arena, list, "metadata", meta);
    each_measured(metrics, report, add_item, json_ensure_array(call->arena, list, "items"));
    api_respond_json(call, 200, list);
}

static void on_usage(void *context, const struct engine_usage_report *report)
{
    struct metrics_request *metrics = context;
    metrics->call->exchange->on_cancel = NULL;
    if (!report) {
        struct err err = ERR_INIT;
        err_set(&err, ERR_UNAVAILABLE,
                "the nodes of this server are shutting down: try again later");
        api_respond_error(metrics->call, &err);
    } else if (metrics->call->route.verb == VERB_GET)
        answer_one(metrics, report);
    else
        answer_list(metrics, report);
}

static void on_metrics_cancel(struct http_exchange *exchange)
{
    struct metrics_request *metrics = exchange->context;
    engine_backend(metrics->call->engine)->usage_cancel(metrics->measurement);
}

void api_handle_metrics(struct api_call *call)
{
    const struct engine_pod_backend *backend = engine_backend(call->engine);
    struct metrics_request *metrics = ARENA_NEW(call->arena, struct metrics_request);
    struct err err = ERR_INIT;
    metrics->call = call;
    metrics->measured =
        call->route.resource == &KUBE_NODE_METRICS_KIND ? &KUBE_NODE_KIND : &KUBE_POD_KIND;
    int result = api_filter_of(call, &metrics->filter, &err);
    if (result == 0 && !backend->usage)
        result = err_set(&err, ERR_UNAVAILABLE,
                         "no node of this server runs pods, so there are no metrics");
    if (result < 0) {
        api_respond_error(call, &err);
        return;
    }
    call->exchange->context = metrics;
    call->exchange->on_cancel = on_metrics_cancel;
    metrics->measurement = backend->usage(backend->context, on_usage, metrics);
}
