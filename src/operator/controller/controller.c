/* Runs the controller of one kind; see controller.h. A change that an informer shows is stored in
 * the cache, and the job is added to the queue. Each job from the queue is reconciled, and its plan
 * is carried out. The reconcile makes all decisions. */
#include "operator/controller/controller.h"

#include "operator/controller/host_ports_share.h"
#include "operator/controller/job_cache.h"
#include "operator/controller/job_watch.h"
#include "operator/controller/plan_run.h"
#include "operator/controller/progress_reader.h"
#include "operator/controller/training_metrics.h"
#include "operator/kind/training_job.h"
#include "operator/reconcile/conditions.h"
#include "operator/reconcile/progress_text.h"
#include "operator/reconcile/reconcile.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/client/informer.h"
#include "kube/client/workqueue.h"
#include "kube/object.h"

#include <stdlib.h>

enum { JOBS_MAX = 32, CALLS_MAX = 32, SYNC_POLL_MS = 20 };

struct training_controller {
    struct loop *loop;
    const struct training_kind *kind;
    struct kube_client *client;
    struct workqueue *queue;
    struct job_cache cache;
    struct job_watch watch;
    struct list_head
        passes; /* struct kube_pass: the passes in progress; each is part of a plan_run */
    struct progress_reader *progress;
    struct training_claims claims; /* all members NULL: claims are not on this machine */
    size_t calls_max;
    char *cluster_domain, *shared_address;
    struct host_ports_share host_ports;
    struct training_metrics metrics;
    struct prometheus *prometheus;
    struct prometheus_collector collector;
};

static void on_job(void *context, struct kube_object *old, struct kube_object *new_)
{
    struct training_controller *controller = context;
    const struct kube_object *job = new_ ? new_ : old;
    _cleanup_free_ char *key = mem_printf("%s/%s", job->namespace_, job->name);

    host_ports_share_observe(&controller->host_ports, job, !new_);
    if (!new_) {
        progress_reader_forget(controller->progress, key);
        training_metrics_count_deleted(&controller->metrics, job->namespace_);
    }
    /* A change of the progress annotation alone needs no pass while the job runs. A finished job
     * needs one, because an older progress may have overwritten the final one. */
    if (!old || !new_ || training_is_finished(json_get(new_->json, "status")) ||
        !training_progress_is_all_that_changed(old->json, new_->json))
        workqueue_add(controller->queue, key);
}

static void on_part_changed(void *context, enum job_part part, struct kube_object *old,
                            struct kube_object *new_)
{
    struct training_controller *controller = context;

    job_cache_change(&controller->cache, part, old, new_);
}

static void on_cache_changed(void *context, const char *key)
{
    struct training_controller *controller = context;

    workqueue_add(controller->queue, key);
}

static const struct json *find_group(struct plan_run *run)
{
    struct kube_object *group =
        map_get(&run->entry->parts[JOB_POD_GROUPS], run->pass.workload->name);

    return group ? kube_pass_hold(&run->pass, group) : NULL;
}

/* Collects the job and its objects from the cache. The run holds references to them until it is
 * freed. */
static struct training_observed controller_observe(struct training_controller *controller,
                                                   struct plan_run *run)
{
    struct training_observed observed = {
        .kind = controller->kind,
        .job = run->pass.workload->json,
        .gang = controller->watch.gang ? gang_watch_inspect(controller->watch.gang) : NULL,
        .pod_group = find_group(run),
        .now_ms = loop_wall_ms(controller->loop),
        .cluster_domain = controller->cluster_domain,
        .shared_address = controller->shared_address,
        .rejection = job_entry_rejection(run->entry, run->pass.workload->json),
        .host_ports = host_ports_share_table(&controller->host_ports),
        .claims = controller->claims.directory ? &controller->claims : NULL,
    };

    observed.pods =
        kube_pass_hold_map(&run->pass, &run->entry->parts[JOB_PODS], &observed.pod_count);
    observed.services =
        kube_pass_hold_map(&run->pass, &run->entry->parts[JOB_SERVICES], &observed.service_count);
    observed.unmatched = kube_pass_hold_map(&run->pass, &run->entry->parts[JOB_UNMATCHED_PODS],
                                            &observed.unmatched_count);
    observed.gone_count = run->gone_count = run->entry->gone.count;
    observed.gone = run->gone =
        kube_pass_hold_all(&run->pass, run->entry->gone.items, run->gone_count);
    return observed;
}

static void plan_run_free(struct plan_run *run)
{
    kube_pass_release(&run->pass);
    free(run);
}

static void on_pass_done(void *context, struct kube_pass *pass)
{
    struct training_controller *controller = context;
    struct plan_run *run = CONTAINER_OF(pass, struct plan_run, pass);
    const char *key = run->entry->key;

    training_metrics_count_pass(&controller->metrics, pass->failed,
                                (double)(loop_now_ms(controller->loop) - run->started_ms) / 1000);
    job_entry_note_server(run->entry, !pass->unreachable, loop_now_ms(controller->loop));
    if (!pass->failed) {
        job_entry_drop_gone(run->entry, run->gone_count);
        if (run->plan.requeue_ms >= 0)
            workqueue_add_after(controller->queue, key, run->plan.requeue_ms);
    }
    workqueue_done(controller->queue, key, pass->failed);
    plan_run_free(run);
}

/* Tells the progress reader which pod reports the job's progress. */
static void observe_progress_pod(struct training_controller *controller, const struct plan_run *run,
                                 const struct training_observed *observed)
{
    int port = 0;
    const struct json *pod = NULL;

    if (!training_is_finished(json_get(observed->job, "status")))
        pod = training_progress_pod(observed->pods, observed->pod_count,
                                    kube_meta_uid(observed->job), &port);

    progress_reader_observe(controller->progress, run->pass.workload,
                            pod ? map_get(&run->entry->parts[JOB_PODS], kube_meta_name(pod)) : NULL,
                            port);
}

static struct plan_run *run_new(struct training_controller *controller, struct job_entry *entry,
                                struct kube_object *job)
{
    struct plan_run *run = mem_zalloc(sizeof(*run));

    kube_pass_init(&run->pass, &controller->passes, job);
    run->pass.stages = &PLAN_RUN_STAGES;
    run->pass.loop = controller->loop;
    run->pass.client = controller->client;
    run->pass.component = controller->kind->controller_name;
    run->pass.calls_max = controller->calls_max;
    run->pass.probes = entry->wait_ms > 0;
    run->pass.writes = &entry->writes;
    run->pass.done = on_pass_done;
    run->pass.context = controller;
    run->kind = controller->kind;
    run->entry = entry;
    run->metrics = &controller->metrics;
    run->started_ms = loop_now_ms(controller->loop);
    return run;
}

static void start_run(struct training_controller *controller, struct job_entry *entry,
                      struct kube_object *job)
{
    struct plan_run *run = run_new(controller, entry, job);
    const struct training_observed observed = controller_observe(controller, run);
    struct arena *arena = run->pass.arena;
    struct err err = ERR_INIT;

    run->pod_groups = observed.gang ? observed.gang->resource : NULL;
    if (training_reconcile(&observed, arena, &run->plan, &err) < 0) {
        _cleanup_free_ char *subject =
            mem_printf("%s %s", controller->kind->row->singular, entry->key);

        log_error(subject, "%s", err.message);
        training_metrics_count_pass(&controller->metrics, true, 0);
        plan_run_free(run);
        workqueue_done(controller->queue, entry->key, true);
        return;
    }
    if (run->plan.host_ports)
        host_ports_share_set(&controller->host_ports, job, run->plan.host_ports,
                             run->plan.host_port_count);
    observe_progress_pod(controller, run, &observed);
    kube_pass_start(&run->pass);
}

struct training_controller_view
training_controller_inspect(const struct training_controller *controller)
{
    struct training_controller_view view = job_watch_inspect(&controller->watch);

    view.queued = workqueue_length(controller->queue);
    return view;
}

static void controller_collect_metrics(struct prometheus_collector *collector)
{
    struct training_controller *controller =
        CONTAINER_OF(collector, struct training_controller, collector);
    const struct training_controller_view view = training_controller_inspect(controller);

    training_metrics_show(&controller->metrics, &view);
}

static void controller_reconcile_job(void *context, const char *key)
{
    struct training_controller *controller = context;

    if (!job_watch_is_ready(&controller->watch)) {
        workqueue_defer(controller->queue, key, SYNC_POLL_MS);
        return;
    }
    struct kube_object *job = kube_informer_find(controller->watch.jobs, key);
    if (!job) {
        job_cache_forget(&controller->cache, key);
        workqueue_done(controller->queue, key, false);
        return;
    }
    struct job_entry *entry = job_cache_get(&controller->cache, key);
    int64_t wait_ms = entry->wait_until_ms - loop_now_ms(controller->loop);
    if (entry->wait_until_ms > 0 && wait_ms > 0) {
        workqueue_defer(controller->queue, key, wait_ms);
        return;
    }
    if (kube_own_writes_are_overdue(&entry->writes, job->json, loop_now_ms(controller->loop)))
        job_watch_resync(&controller->watch);
    wait_ms = kube_own_writes_wait_ms(&entry->writes, job->json, loop_now_ms(controller->loop));
    if (wait_ms > 0) {
        workqueue_defer(controller->queue, key, wait_ms);
        return;
    }
    start_run(controller, entry, job);
}

struct training_controller *
training_controller_new(struct loop *loop, struct http_transport *transport,
                        const struct training_kind *kind,
                        const struct training_controller_options *options)
{
    static const struct training_controller_options defaults = {0};
    const struct training_dialer by_address = training_pod_dialer(loop);
    struct training_controller *controller = mem_zalloc(sizeof(*controller));

    if (!options)
        options = &defaults;
    controller->loop = loop;
    controller->kind = kind;
    controller->calls_max = options->calls_max ? options->calls_max : CALLS_MAX;
    if (options->cluster_domain)
        controller->cluster_domain = mem_strdup(options->cluster_domain);
    if (options->shared_address)
        controller->shared_address = mem_strdup(options->shared_address);
    if (options->claims)
        controller->claims = *options->claims;
    host_ports_share_init(&controller->host_ports, loop, kind, options->host_ports);
    training_metrics_init(&controller->metrics, options->metrics, kind);
    controller->prometheus = options->metrics;
    controller->collector.collect = controller_collect_metrics;
    prometheus_collector_add(options->metrics, &controller->collector);
    job_cache_init(&controller->cache, on_cache_changed, controller);
    controller->client = kube_client_new(loop, transport, kind->controller_name);
    controller->progress = progress_reader_new(loop, controller->client, kind,
                                               options->dialer ? options->dialer : &by_address);
    controller->queue = workqueue_new(loop, options->jobs_max ? options->jobs_max : JOBS_MAX,
                                      controller_reconcile_job, controller);
    job_watch_start(&controller->watch, controller->client, kind, options, on_job, on_part_changed,
                    controller);
    host_ports_share_start(&controller->host_ports, controller->watch.jobs);
    return controller;
}

struct training_controller *training_controller_free(struct training_controller *controller)
{
    if (!controller)
        return NULL;
    prometheus_collector_remove(controller->prometheus, &controller->collector);
    job_watch_stop(&controller->watch);
    kube_client_free(controller->client);
    progress_reader_free(controller->progress);
    LIST_EACH_SAFE (struct kube_pass, pass, &controller->passes, link)
        plan_run_free(CONTAINER_OF(pass, struct plan_run, pass));
    workqueue_free(controller->queue);
    job_cache_release(&controller->cache);
    host_ports_share_release(&controller->host_ports);
    free(controller->cluster_domain);
    free(controller->shared_address);
    free(controller);
    return NULL;
}
