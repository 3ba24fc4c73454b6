/* The controller's loop: what the informers show goes into the cache and puts the workflow into the
 * queue; what comes out of the queue is reconciled and its plan carried out. It decides nothing:
 * the reconcile does. */
#include "pipeline/controller.h"

#include "pipeline/cache.h"
#include "pipeline/plan_run.h"
#include "pipeline/reconcile.h"
#include "pipeline/workflow.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/informer.h"
#include "kube/object.h"
#include "kube/workqueue.h"

#include <stdlib.h>
#include <string.h>

enum { WORKFLOWS_MAX = 8, CALLS_MAX = 16, SYNC_POLL_MS = 20 };

struct workflow_controller {
    struct loop *loop;
    struct kube_client *client;
    struct workqueue *queue;
    struct workflow_cache cache;
    struct kube_informer *workflows, *pods;
    struct workflow_run *runs; /* under way */
    size_t calls_max;
    bool make_accounts;
    char *step_image;
};

static void on_workflow(void *context, struct kube_object *old, struct kube_object *new_)
{
    struct workflow_controller *controller = context;
    const struct kube_object *workflow = new_ ? new_ : old;
    _cleanup_free_ char *key = mem_printf("%s/%s", workflow->namespace_, workflow->name);

    workqueue_add(controller->queue, key);
}

static void on_pod(void *context, struct kube_object *old, struct kube_object *new_)
{
    struct workflow_controller *controller = context;
    const struct kube_object *pod = new_ ? new_ : old;
    const char *name = kube_meta_label(pod->json, WORKFLOW_LABEL);

    if (str_is_empty(name))
        return;
    _cleanup_free_ char *key = mem_printf("%s/%s", pod->namespace_, name);
    workflow_cache_change(&controller->cache, key, old, new_);
    workqueue_add(controller->queue, key);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp((*(struct kube_object *const *)a)->name, (*(struct kube_object *const *)b)->name);
}

/* The pods by name, held by the run until it ends. */
static const struct json **observe_pods(struct workflow_run *run, size_t *ret_count)
{
    const struct map *pods = &run->entry->pods;
    const struct json **list = ARENA_ARRAY(run->arena, const struct json *, pods->count + 1);
    const char *key;
    void *pod;

    for (size_t i = 0; map_next(pods, &i, &key, &pod);)
        vec_push(&run->held, kube_object_ref(pod));
    if (run->held.count)
        qsort(run->held.items, run->held.count, sizeof(run->held.items[0]), compare_names);
    for (size_t i = 0; i < run->held.count; i++)
        list[i] = run->held.items[i]->json;
    *ret_count = run->held.count;
    return list;
}

static struct workflow_observed observe(struct workflow_controller *controller,
                                        struct workflow_run *run)
{
    struct workflow_entry *entry = run->entry;
    size_t pod_count;
    const struct json **pods = observe_pods(run, &pod_count);
    const struct json **gone = ARENA_ARRAY(run->arena, const struct json *, entry->gone.count + 1);
    struct workflow_result *results =
        ARENA_ARRAY(run->arena, struct workflow_result, entry->results.count + 1);

    run->gone_count = entry->gone.count;
    for (size_t i = 0; i < entry->gone.count; i++) {
        vec_push(&run->held, kube_object_ref(entry->gone.items[i]));
        gone[i] = entry->gone.items[i]->json;
    }
    run->result_count = entry->results.count;
    for (size_t i = 0; i < entry->results.count; i++) {
        const struct workflow_kept_result *kept = &entry->results.items[i];

        if (kept->object)
            vec_push(&run->held, kube_object_ref(kept->object));
        results[i] = (struct workflow_result){
            .node_id = arena_strdup(run->arena, kept->node_id),
            .object = kept->object ? kept->object->json : NULL,
            .error = kept->error ? arena_strdup(run->arena, kept->error) : NULL,
        };
    }
    return (struct workflow_observed){
        .workflow = run->workflow->json,
        .pods = pods,
        .pod_count = pod_count,
        .gone = gone,
        .gone_count = run->gone_count,
        .results = results,
        .result_count = run->result_count,
        .now_ms = loop_wall_ms(controller->loop),
        .make_accounts = controller->make_accounts,
        .step_image = controller->step_image,
    };
}

static void link_run(struct workflow_controller *controller, struct workflow_run *run)
{
    run->next = controller->runs;
    if (run->next)
        run->next->previous = run;
    controller->runs = run;
}

static void unlink_run(struct workflow_controller *controller, struct workflow_run *run)
{
    if (run->previous)
        run->previous->next = run->next;
    else
        controller->runs = run->next;
    if (run->next)
        run->next->previous = run->previous;
}

static void on_run_done(void *context, struct workflow_run *run, bool failed)
{
    struct workflow_controller *controller = context;
    struct workflow_entry *entry = run->entry;

    unlink_run(controller, run);
    if (!failed) {
        bool news = entry->results.count > run->result_count;

        workflow_entry_drop(entry, run->result_count, run->gone_count);
        if (news)
            workqueue_add(controller->queue, entry->key);
        if (run->plan.requeue_ms >= 0)
            workqueue_add_after(controller->queue, entry->key, run->plan.requeue_ms);
    }
    workqueue_done(controller->queue, entry->key, failed);
}

static void start_run(struct workflow_controller *controller, struct workflow_entry *entry,
                      struct kube_object *workflow)
{
    struct workflow_run *run = workflow_run_new();
    struct workflow_observed observed;
    struct err err = ERR_INIT;

    run->loop = controller->loop;
    run->client = controller->client;
    run->entry = entry;
    run->workflow = kube_object_ref(workflow);
    run->calls_max = controller->calls_max;
    run->done = on_run_done;
    run->context = controller;
    observed = observe(controller, run);
    if (workflow_reconcile(&observed, run->arena, &run->plan, &err) < 0) {
        _cleanup_free_ char *subject = mem_printf("workflow %s", entry->key);

        log_error(subject, "%s", err.message);
        workflow_run_free(run);
        workqueue_done(controller->queue, entry->key, true);
        return;
    }
    link_run(controller, run);
    workflow_run_start(run);
}

static struct kube_object *find_workflow(struct workflow_controller *controller, const char *key)
{
    const char *slash = strchr(key, '/');
    _cleanup_free_ char *namespace_ = mem_strndup(key, (size_t)(slash - key));

    return kube_informer_get(controller->workflows, namespace_, slash + 1);
}

static void work(void *context, const char *key)
{
    struct workflow_controller *controller = context;
    struct kube_object *workflow;
    struct workflow_entry *entry;
    int64_t wait_ms;

    if (!kube_informer_synced(controller->workflows) || !kube_informer_synced(controller->pods)) {
        workqueue_add_after(controller->queue, key, SYNC_POLL_MS);
        workqueue_done(controller->queue, key, false);
        return;
    }
    workflow = find_workflow(controller, key);
    if (!workflow) {
        workflow_cache_forget(&controller->cache, key);
        workqueue_done(controller->queue, key, false);
        return;
    }
    entry = workflow_cache_get(&controller->cache, key);
    wait_ms =
        kube_own_writes_wait_ms(&entry->writes, workflow->json, loop_now_ms(controller->loop));
    if (wait_ms > 0) {
        workqueue_add_after(controller->queue, key, wait_ms);
        workqueue_done(controller->queue, key, false);
        return;
    }
    start_run(controller, entry, workflow);
}

struct workflow_controller *
workflow_controller_new(struct loop *loop, struct http_transport *transport,
                        const struct workflow_controller_options *options)
{
    static const struct workflow_controller_options defaults = {0};
    struct workflow_controller *controller = mem_zalloc(sizeof(*controller));

    if (!options)
        options = &defaults;
    controller->loop = loop;
    controller->calls_max = options->calls_max ? options->calls_max : CALLS_MAX;
    controller->make_accounts = options->make_accounts;
    if (options->step_image)
        controller->step_image = mem_strdup(options->step_image);
    workflow_cache_init(&controller->cache);
    controller->client = kube_client_new(loop, transport, "trainyard-workflow");
    controller->queue = workqueue_new(
        loop, options->workflows_max ? options->workflows_max : WORKFLOWS_MAX, work, controller);
    controller->workflows = kube_informer_new(controller->client, &KUBE_WORKFLOWS,
                                              options->namespace_, NULL, on_workflow, controller);
    controller->pods = kube_informer_new(controller->client, &KUBE_PODS, options->namespace_,
                                         WORKFLOW_LABEL, on_pod, controller);
    return controller;
}

struct workflow_controller *workflow_controller_free(struct workflow_controller *controller)
{
    if (!controller)
        return NULL;
    kube_informer_free(controller->workflows);
    kube_informer_free(controller->pods);
    kube_client_free(controller->client);
    while (controller->runs) {
        struct workflow_run *run = controller->runs;

        unlink_run(controller, run);
        workflow_run_free(run);
    }
    workqueue_free(controller->queue);
    workflow_cache_release(&controller->cache);
    free(controller->step_image);
    free(controller);
    return NULL;
}
