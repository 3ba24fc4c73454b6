/* Implements the workflow controller; see controller.h. A change that an informer reports puts the
 * workflow into the queue; a change of a pod also goes into the cache. A workflow from the queue is
 * reconciled, and its plan is carried out. All decisions are made in pipeline/reconcile. */
#include "pipeline/controller/controller.h"

#include "pipeline/controller/cache.h"
#include "pipeline/controller/plan_run.h"
#include "pipeline/reconcile/reconcile.h"
#include "pipeline/spec/workflow.h"
#include "pipeline/spec/workflow_kind.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/client/informer.h"
#include "kube/client/workqueue.h"
#include "kube/object.h"

#include <stdlib.h>

enum { WORKFLOWS_MAX = 8, CALLS_MAX = 16, SYNC_POLL_MS = 20 };

struct workflow_controller {
    struct loop *loop;
    struct kube_client *client;
    struct workqueue *queue;
    struct workflow_cache cache;
    struct kube_informer *workflows, *pods;
    struct list_head passes; /* struct workflow_plan_run.pass: the running passes */
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

static void on_workflow_pod(void *context, struct kube_object *old, struct kube_object *new_)
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

/* Collects the workflow, its pods and the results of its actions. The run keeps references to the
 * objects until it ends. */
static struct workflow_observed workflow_observe(struct workflow_controller *controller,
                                                 struct workflow_plan_run *run)
{
    struct workflow_entry *entry = run->entry;
    struct arena *arena = run->pass.arena;
    size_t pod_count;
    const struct json **pods = kube_pass_hold_map(&run->pass, &entry->pods, &pod_count);
    struct workflow_result *results =
        ARENA_ARRAY(arena, struct workflow_result, entry->results.count + 1);

    run->gone_count = entry->gone.count;
    run->result_count = entry->results.count;
    for (size_t i = 0; i < entry->results.count; i++) {
        const struct workflow_cached_result *kept = &entry->results.items[i];

        results[i] = (struct workflow_result){
            .node_id = arena_strdup(arena, kept->node_id),
            .object = kept->object ? kube_pass_hold(&run->pass, kept->object) : NULL,
            .error = kept->error ? arena_strdup(arena, kept->error) : NULL,
        };
    }
    return (struct workflow_observed){
        .workflow = run->pass.workload->json,
        .pods = pods,
        .pod_count = pod_count,
        .gone = kube_pass_hold_all(&run->pass, entry->gone.items, run->gone_count),
        .gone_count = run->gone_count,
        .results = results,
        .result_count = run->result_count,
        .now_ms = loop_wall_ms(controller->loop),
        .make_accounts = controller->make_accounts,
        .step_image = controller->step_image,
    };
}

static void workflow_run_free(struct workflow_plan_run *run)
{
    kube_pass_release(&run->pass);
    free(run);
}

static void on_pass_done(void *context, struct kube_pass *pass)
{
    struct workflow_controller *controller = context;
    struct workflow_plan_run *run = CONTAINER_OF(pass, struct workflow_plan_run, pass);
    struct workflow_entry *entry = run->entry;

    if (!pass->failed) {
        /* The actions of this pass have added results, which the next pass handles. */
        bool has_new_results = entry->results.count > run->result_count;

        workflow_entry_drop(entry, run->result_count, run->gone_count);
        if (has_new_results)
            workqueue_add(controller->queue, entry->key);
        if (run->plan.requeue_ms >= 0)
            workqueue_add_after(controller->queue, entry->key, run->plan.requeue_ms);
    }
    workqueue_done(controller->queue, entry->key, pass->failed);
    workflow_run_free(run);
}

static struct workflow_plan_run *run_new(struct workflow_controller *controller,
                                         struct workflow_entry *entry, struct kube_object *workflow)
{
    struct workflow_plan_run *run = mem_zalloc(sizeof(*run));

    kube_pass_init(&run->pass, &controller->passes, workflow);
    run->pass.stages = &WORKFLOW_PLAN_RUN_STAGES;
    run->pass.loop = controller->loop;
    run->pass.client = controller->client;
    run->pass.component = WORKFLOW_CONTROLLER_NAME;
    run->pass.calls_max = controller->calls_max;
    run->pass.writes = &entry->writes;
    run->pass.done = on_pass_done;
    run->pass.context = controller;
    run->entry = entry;
    return run;
}

static void start_run(struct workflow_controller *controller, struct workflow_entry *entry,
                      struct kube_object *workflow)
{
    struct workflow_plan_run *run = run_new(controller, entry, workflow);
    const struct workflow_observed observed = workflow_observe(controller, run);
    struct err err = ERR_INIT;

    if (workflow_reconcile(&observed, run->pass.arena, &run->plan, &err) < 0) {
        _cleanup_free_ char *subject = mem_printf("workflow %s", entry->key);

        log_error(subject, "%s", err.message);
        workflow_run_free(run);
        workqueue_done(controller->queue, entry->key, true);
        return;
    }
    kube_pass_start(&run->pass);
}

static void controller_reconcile_workflow(void *context, const char *key)
{
    struct workflow_controller *controller = context;
    int64_t wait_ms;

    if (!kube_informer_synced(controller->workflows) || !kube_informer_synced(controller->pods)) {
        workqueue_defer(controller->queue, key, SYNC_POLL_MS);
        return;
    }
    struct kube_object *workflow = kube_informer_find(controller->workflows, key);
    if (!workflow) {
        workflow_cache_forget(&controller->cache, key);
        workqueue_done(controller->queue, key, false);
        return;
    }
    struct workflow_entry *entry = workflow_cache_get(&controller->cache, key);
    wait_ms =
        kube_own_writes_wait_ms(&entry->writes, workflow->json, loop_now_ms(controller->loop));
    if (wait_ms > 0) {
        workqueue_defer(controller->queue, key, wait_ms);
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
    controller->queue =
        workqueue_new(loop, options->workflows_max ? options->workflows_max : WORKFLOWS_MAX,
                      controller_reconcile_workflow, controller);
    controller->workflows = kube_informer_new(controller->client, &WORKFLOWS_RESOURCE,
                                              options->namespace_, NULL, on_workflow, controller);
    controller->pods = kube_informer_new(controller->client, &KUBE_PODS, options->namespace_,
                                         WORKFLOW_LABEL, on_workflow_pod, controller);
    return controller;
}

struct workflow_controller *workflow_controller_free(struct workflow_controller *controller)
{
    if (!controller)
        return NULL;
    kube_informer_free(controller->workflows);
    kube_informer_free(controller->pods);
    kube_client_free(controller->client);
    LIST_EACH_SAFE (struct kube_pass, pass, &controller->passes, link)
        workflow_run_free(CONTAINER_OF(pass, struct workflow_plan_run, pass));
    workqueue_free(controller->queue);
    workflow_cache_release(&controller->cache);
    free(controller->step_image);
    free(controller);
    return NULL;
}
