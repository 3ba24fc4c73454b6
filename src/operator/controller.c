/* The controller's loop: what the informers show goes into the cache and puts the job into the
 * queue; what comes out of the queue is reconciled and its plan carried out. Made by the program
 * that runs it. It decides nothing: the reconcile does. */
#include "operator/controller.h"

#include "operator/conditions.h"
#include "operator/gang_watch.h"
#include "operator/host_network.h"
#include "operator/job_cache.h"
#include "operator/plan_run.h"
#include "operator/progress_reader.h"
#include "operator/progress_text.h"
#include "operator/reconcile.h"
#include "operator/training_job.h"
#include "operator/training_metrics.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/informer.h"
#include "kube/object.h"
#include "kube/workqueue.h"

#include <stdlib.h>
#include <string.h>

enum {
    JOBS_MAX = 32,
    CALLS_MAX = 32,
    SYNC_POLL_MS = 20,
    /* How long the jobs of other kinds are waited for before ports of nodes are given out: a kind
     * that is not installed never comes. */
    OTHERS_MS = 10 * 1000,
};

struct training_controller {
    struct loop *loop;
    const struct training_kind *kind;
    struct kube_client *client;
    struct workqueue *queue;
    struct job_cache cache;
    struct kube_informer *jobs, *pods, *services;
    struct gang_watch *gang;  /* or NULL */
    struct kube_pass *passes; /* under way; each of a plan_run */
    struct progress_reader *progress;
    size_t calls_max;
    char *cluster_domain;
    struct host_ports *host_ports, *own_host_ports;
    bool told_host_ports; /* which ports its jobs hold */
    struct loop_timer sync_timer;
    int64_t made_ms;
    struct training_metrics metrics;
    struct prometheus *prometheus;
    struct prometheus_collector collector;
};

/* What a job holds grows with what is seen of it; it gives up only what its own reconcile decides,
 * or all when it is gone: an older state may be shown after a newer one was decided. */
static void see_host_ports(struct training_controller *controller, const struct kube_object *job,
                           bool gone)
{
    _cleanup_(cleanup_arena) struct arena *arena = NULL;
    const int *held = NULL;
    size_t count = 0;

    if (!gone && !kube_meta_annotation(job->json, TRAINING_HOST_PORTS_ANNOTATION))
        return;
    arena = arena_new();
    if (!gone)
        held = training_host_ports_held(arena, job->json, &count);
    host_ports_set(controller->host_ports,
                   training_host_ports_owner(arena, controller->kind, job->namespace_, job->name),
                   held, count);
}

/* The progress that we wrote ourselves, of which nothing follows. */
static bool is_our_own_word(const struct kube_object *old, const struct kube_object *new_)
{
    return old && new_ && training_progress_is_all_that_changed(old->json, new_->json);
}

static void on_job(void *context, struct kube_object *old, struct kube_object *new_)
{
    struct training_controller *controller = context;
    const struct kube_object *job = new_ ? new_ : old;
    _cleanup_free_ char *key = mem_printf("%s/%s", job->namespace_, job->name);

    see_host_ports(controller, job, !new_);
    if (!new_) {
        progress_reader_forget(controller->progress, key);
        training_metrics_count_deleted(&controller->metrics, job->namespace_);
    }
    if (!is_our_own_word(old, new_))
        workqueue_add(controller->queue, key);
}

static void on_part(struct training_controller *controller, enum job_part part,
                    struct kube_object *old, struct kube_object *new_)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const char *key = job_cache_key(arena, (new_ ? new_ : old)->json);
    const char *old_key = old ? job_cache_key(arena, old->json) : NULL;

    /* Somebody moved its label to another job. */
    if (new_ && old_key && !str_eq(key, old_key)) {
        job_cache_change(&controller->cache, old_key, part, old, NULL);
        workqueue_add(controller->queue, old_key);
    }
    if (!key)
        return;
    job_cache_change(&controller->cache, key, part, old, new_);
    workqueue_add(controller->queue, key);
}

static void on_pod(void *context, struct kube_object *old, struct kube_object *new_)
{
    on_part(context, JOB_PODS, old, new_);
}

static void on_service(void *context, struct kube_object *old, struct kube_object *new_)
{
    on_part(context, JOB_SERVICES, old, new_);
}

static void on_pod_group(void *context, struct kube_object *old, struct kube_object *new_)
{
    on_part(context, JOB_POD_GROUPS, old, new_);
}

/* Nothing is given out before all that is held is known. */
static const struct host_ports *known_host_ports(const struct training_controller *controller)
{
    if (host_ports_all_told(controller->host_ports) ||
        loop_now_ms(controller->loop) > controller->made_ms + OTHERS_MS)
        return controller->host_ports;
    return NULL;
}

static void tell_host_ports(struct training_controller *controller)
{
    if (!controller->told_host_ports)
        host_ports_told(controller->host_ports);
    controller->told_host_ports = true;
}

static void on_sync_timer(struct loop_timer *timer)
{
    struct training_controller *controller =
        CONTAINER_OF(timer, struct training_controller, sync_timer);

    if (kube_informer_synced(controller->jobs))
        tell_host_ports(controller);
    else
        loop_timer_start(timer, SYNC_POLL_MS);
}

/* The objects of a part, held by the run until it ends. */
static const struct json **observe_part(struct plan_run *run, enum job_part part, size_t *ret_count)
{
    struct kube_object **objects = job_entry_objects(run->entry, run->pass.arena, part, ret_count);

    return kube_pass_hold_all(&run->pass, objects, *ret_count);
}

static const struct json *find_group(struct plan_run *run)
{
    struct kube_object *group =
        map_get(&run->entry->parts[JOB_POD_GROUPS], run->pass.workload->name);

    return group ? kube_pass_hold(&run->pass, group) : NULL;
}

static struct training_observed observe(struct training_controller *controller,
                                        struct plan_run *run)
{
    struct training_observed observed = {
        .kind = controller->kind,
        .job = run->pass.workload->json,
        .gang = controller->gang ? gang_watch_look(controller->gang) : NULL,
        .pod_group = find_group(run),
        .now_ms = loop_wall_ms(controller->loop),
        .cluster_domain = controller->cluster_domain,
        .host_ports = known_host_ports(controller),
    };

    observed.pods = observe_part(run, JOB_PODS, &observed.pod_count);
    observed.services = observe_part(run, JOB_SERVICES, &observed.service_count);
    observed.gone_count = run->gone_count = run->entry->gone.count;
    observed.gone = kube_pass_hold_all(&run->pass, run->entry->gone.items, run->gone_count);
    return observed;
}

static void run_free(struct plan_run *run)
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
    if (!pass->failed) {
        job_entry_drop_gone(run->entry, run->gone_count);
        if (run->plan.requeue_ms >= 0)
            workqueue_add_after(controller->queue, key, run->plan.requeue_ms);
    }
    workqueue_done(controller->queue, key, pass->failed);
    run_free(run);
}

/* Whom to ask how far the job is, from what was just observed. */
static void see_progress(struct training_controller *controller, const struct plan_run *run,
                         const struct training_observed *observed)
{
    int port = 0;
    const struct json *pod = NULL;

    if (!training_is_finished(json_get(observed->job, "status")))
        pod = training_progress_pod(observed->pods, observed->pod_count,
                                    kube_meta_uid(observed->job), &port);

    progress_reader_see(controller->progress, run->pass.workload,
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
    const struct training_observed observed = observe(controller, run);
    struct arena *arena = run->pass.arena;
    struct err err = ERR_INIT;

    run->pod_groups = observed.gang ? observed.gang->resource : NULL;
    if (training_reconcile(&observed, arena, &run->plan, &err) < 0) {
        _cleanup_free_ char *subject = mem_printf("%s %s", controller->kind->singular, entry->key);

        log_error(subject, "%s", err.message);
        training_metrics_count_pass(&controller->metrics, true, 0);
        run_free(run);
        workqueue_done(controller->queue, entry->key, true);
        return;
    }
    if (run->plan.host_ports)
        host_ports_set(
            controller->host_ports,
            training_host_ports_owner(arena, controller->kind, job->namespace_, job->name),
            run->plan.host_ports, run->plan.host_port_count);
    see_progress(controller, run, &observed);
    kube_pass_start(&run->pass);
}

static bool is_synced(const struct training_controller *controller)
{
    return kube_informer_synced(controller->jobs) && kube_informer_synced(controller->pods) &&
           kube_informer_synced(controller->services) &&
           (!controller->gang || gang_watch_is_ready(controller->gang));
}

struct training_controller_view
training_controller_look(const struct training_controller *controller)
{
    const struct {
        const struct kube_informer *informer;
        const struct kube_resource *resource;
    } NEEDED[] = {{controller->jobs, controller->kind->resource},
                  {controller->pods, &KUBE_PODS},
                  {controller->services, &KUBE_SERVICES}};
    struct training_controller_view view = {
        .queued = workqueue_length(controller->queue),
        .jobs = kube_informer_count(controller->jobs),
        .pods = kube_informer_count(controller->pods),
        .services = kube_informer_count(controller->services),
    };

    for (size_t i = 0; i < ARRAY_SIZE(NEEDED) && !view.waits_for; i++) {
        if (kube_informer_synced(NEEDED[i].informer))
            continue;
        view.waits_for = NEEDED[i].resource;
        view.failure = kube_informer_failure(NEEDED[i].informer);
    }
    return view;
}

static void collect(struct prometheus_collector *collector)
{
    struct training_controller *controller =
        CONTAINER_OF(collector, struct training_controller, collector);
    const struct training_metrics *metrics = &controller->metrics;
    const struct training_controller_view view = training_controller_look(controller);
    const char *name = controller->kind->controller_name;

    prometheus_set(metrics->queue, (double)view.queued, name, NULL);
    prometheus_set(metrics->watched, (double)view.jobs, name, controller->kind->resource->plural,
                   NULL);
    prometheus_set(metrics->watched, (double)view.pods, name, "pods", NULL);
    prometheus_set(metrics->watched, (double)view.services, name, "services", NULL);
}

static void work(void *context, const char *key)
{
    struct training_controller *controller = context;
    struct kube_object *job;
    struct job_entry *entry;
    int64_t wait_ms;

    if (!is_synced(controller)) {
        workqueue_put_off(controller->queue, key, SYNC_POLL_MS);
        return;
    }
    job = kube_informer_find(controller->jobs, key);
    if (!job) {
        job_cache_forget(&controller->cache, key);
        workqueue_done(controller->queue, key, false);
        return;
    }
    entry = job_cache_get(&controller->cache, key);
    wait_ms = kube_own_writes_wait_ms(&entry->writes, job->json, loop_now_ms(controller->loop));
    if (wait_ms > 0) {
        workqueue_put_off(controller->queue, key, wait_ms);
        return;
    }
    start_run(controller, entry, job);
}

/* All that is ever read of the pods and services of jobs. There may be thousands, and a pod carries
 * the addresses of all its peers: what is not in these lists is not kept, and not seen. */
static const char *const POD_FIELDS[] = {
    "metadata.creationTimestamp",
    "metadata.deletionTimestamp",
    "metadata.deletionGracePeriodSeconds",
    "metadata.annotations." TRAINING_VOLCANO_GROUP_ANNOTATION,
    "metadata.labels",
    "metadata.ownerReferences.controller",
    "metadata.ownerReferences.uid",
    "spec.containers.ports",
    "spec.nodeName",
    "status.conditions",
    "status.containerStatuses.name",
    "status.containerStatuses.restartCount",
    "status.containerStatuses.state",
    "status.initContainerStatuses.name",
    "status.initContainerStatuses.restartCount",
    "status.initContainerStatuses.state",
    "status.phase",
    "status.podIP",
    "status.reason",
    NULL,
};
/* Of the jobs all but who last wrote which field. */
static const char *const JOB_FIELDS[] = {
    "metadata.annotations",
    "metadata.creationTimestamp",
    "metadata.deletionTimestamp",
    "metadata.finalizers",
    "metadata.generation",
    "metadata.labels",
    "metadata.ownerReferences",
    "spec",
    "status",
    NULL,
};
static const char *const SERVICE_FIELDS[] = {
    "metadata.deletionTimestamp",
    "metadata.labels",
    "metadata.ownerReferences.controller",
    "metadata.ownerReferences.uid",
    NULL,
};

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
    controller->made_ms = loop_now_ms(loop);
    if (!options->host_ports)
        controller->own_host_ports = host_ports_new(HOST_PORTS_FIRST, HOST_PORTS_LAST);
    controller->host_ports = options->host_ports ? options->host_ports : controller->own_host_ports;
    host_ports_expect(controller->host_ports);
    training_metrics_init(&controller->metrics, options->metrics, kind);
    controller->prometheus = options->metrics;
    controller->collector.collect = collect;
    prometheus_collector_add(options->metrics, &controller->collector);
    job_cache_init(&controller->cache);
    controller->client = kube_client_new(loop, transport, kind->controller_name);
    controller->progress = progress_reader_new(loop, controller->client, kind,
                                               options->dialer ? options->dialer : &by_address);
    controller->queue =
        workqueue_new(loop, options->jobs_max ? options->jobs_max : JOBS_MAX, work, controller);
    controller->jobs = kube_informer_new(controller->client, kind->resource, options->namespace_,
                                         NULL, on_job, controller);
    kube_informer_keep(controller->jobs, JOB_FIELDS);
    controller->pods = kube_informer_new(controller->client, &KUBE_PODS, options->namespace_,
                                         kind->selector, on_pod, controller);
    kube_informer_keep(controller->pods, POD_FIELDS);
    controller->services =
        kube_informer_new(controller->client, &KUBE_SERVICES, options->namespace_, kind->selector,
                          on_service, controller);
    kube_informer_keep(controller->services, SERVICE_FIELDS);
    if (!str_is_empty(options->gang_scheduler))
        controller->gang = gang_watch_new(controller->client, kind, options->namespace_,
                                          options->gang_scheduler, on_pod_group, controller);
    loop_timer_init(loop, &controller->sync_timer, on_sync_timer);
    loop_timer_start(&controller->sync_timer, 0);
    return controller;
}

static void forget_host_ports(struct training_controller *controller)
{
    _cleanup_free_ char *prefix = mem_printf("%s/", controller->kind->singular);

    tell_host_ports(controller);
    host_ports_forget(controller->host_ports, prefix);
    host_ports_free(controller->own_host_ports);
}

struct training_controller *training_controller_free(struct training_controller *controller)
{
    if (!controller)
        return NULL;
    prometheus_collector_remove(controller->prometheus, &controller->collector);
    loop_timer_stop(&controller->sync_timer);
    kube_informer_free(controller->jobs);
    kube_informer_free(controller->pods);
    kube_informer_free(controller->services);
    gang_watch_free(controller->gang);
    kube_client_free(controller->client);
    progress_reader_free(controller->progress);
    while (controller->passes)
        run_free(CONTAINER_OF(controller->passes, struct plan_run, pass));
    workqueue_free(controller->queue);
    job_cache_release(&controller->cache);
    forget_host_ports(controller);
    free(controller->cluster_domain);
    free(controller);
    return NULL;
}
