/* Runs Jobs: hears of jobs and of the pods they control, asks job_reconcile() what shall be done
 * and has it done. All that must outlive it is in the objects; what it keeps itself are only its
 * own writes that the informers have not shown yet, so that nothing is decided on what was. */
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "engine/hub.h"
#include "engine/job.h"
#include "engine/job_run.h"
#include "kube/object.h"
#include "kube/own_writes.h"
#include "kube/workqueue.h"

#include <stdlib.h>
#include <string.h>

enum {
    PARALLEL = 16,
    UNSYNCED_MS = 20,
};

struct jobs {
    struct hub *hub;
    struct workqueue *queue;
    struct map writes; /* key of a job → struct kube_own_writes */
};

/* ---- Our own writes -------------------------------------------------------------------------- */

static void writes_free(struct kube_own_writes *writes)
{
    if (!writes)
        return;
    kube_own_writes_release(writes);
    free(writes);
}

static void on_wrote(void *context, struct job_run *run, const struct json *object)
{
    struct jobs *jobs = context;
    struct kube_own_writes *writes = map_get(&jobs->writes, run->key);
    int64_t now = loop_now_ms(hub_loop(jobs->hub));
    if (!writes) {
        writes = mem_zalloc(sizeof(*writes));
        kube_own_writes_init(writes);
        map_put(&jobs->writes, run->key, writes);
    }
    if (str_eq(json_get_string(object, "kind", ""), "Job")) {
        kube_own_writes_wrote(writes, object, now);
        return;
    }
    const struct kube_object *seen = kube_informer_get(
        hub_informer(jobs->hub, "pods"), kube_meta_namespace(object), kube_meta_name(object));
    if (!seen || !str_eq(seen->uid, kube_meta_uid(object)))
        kube_own_writes_made(writes, kube_meta_uid(object), now);
}

/* How long to wait until the informers show what we did; 0: they do. */
static int64_t await_ms(struct jobs *jobs, const char *key, const struct json *job)
{
    struct kube_own_writes *writes = map_get(&jobs->writes, key);
    int64_t wait_ms =
        writes ? kube_own_writes_wait_ms(writes, job, loop_now_ms(hub_loop(jobs->hub))) : 0;
    if (wait_ms == 0)
        writes_free(map_remove(&jobs->writes, key));
    return wait_ms;
}

/* ---- Working --------------------------------------------------------------------------------- */

static void on_done(void *context, struct job_run *run, bool failed)
{
    struct jobs *jobs = context;
    if (!failed && run->plan.requeue_ms >= 0)
        workqueue_add_after(jobs->queue, run->key, run->plan.requeue_ms);
    workqueue_done(jobs->queue, run->key, failed);
}

static const struct job_run_events EVENTS = {on_wrote, on_done};

static int compare_age(const void *a, const void *b)
{
    const struct kube_object *x = *(struct kube_object *const *)a,
                             *y = *(struct kube_object *const *)b;
    int64_t left = kube_meta_created_ms(x->json), right = kube_meta_created_ms(y->json);
    return left != right ? (left < right ? -1 : 1) : strcmp(x->name, y->name);
}

static void gather_pods(struct jobs *jobs, struct job_run *run)
{
    struct kube_informer *informer = hub_informer(jobs->hub, "pods");
    struct kube_object *pod;
    for (size_t at = 0; (pod = kube_informer_next(informer, run->job->namespace_, &at));)
        if (kube_meta_is_controlled_by(pod->json, run->job->uid))
            vec_push(&run->pods, kube_object_ref(pod));
    if (run->pods.count)
        qsort(run->pods.items, run->pods.count, sizeof(run->pods.items[0]), compare_age);
}

static void reconcile(struct jobs *jobs, const char *key, struct kube_object *job)
{
    struct job_run *run = job_run_new(jobs->hub, key, job);
    gather_pods(jobs, run);
    const struct json **pods = ARENA_ARRAY(run->arena, const struct json *, run->pods.count + 1);
    for (size_t i = 0; i < run->pods.count; i++)
        pods[i] = run->pods.items[i]->json;
    struct job_observed observed = {
        .job = job->json,
        .pods = pods,
        .pod_count = run->pods.count,
        .now_ms = loop_wall_ms(hub_loop(jobs->hub)),
    };
    run->events = &EVENTS;
    run->context = jobs;
    job_reconcile(run->arena, &observed, &run->plan);
    job_run_start(run);
}

static void work(void *context, const char *key)
{
    struct jobs *jobs = context;
    const char *name = strchr(key, '/') + 1;
    _cleanup_free_ char *namespace_ = mem_strndup(key, (size_t)(name - key) - 1);
    if (!hub_synced(jobs->hub)) {
        workqueue_add_after(jobs->queue, key, UNSYNCED_MS);
        workqueue_done(jobs->queue, key, false);
        return;
    }
    struct kube_object *job =
        kube_informer_get(hub_informer(jobs->hub, "jobs.batch"), namespace_, name);
    if (!job) {
        writes_free(map_remove(&jobs->writes, key));
        workqueue_done(jobs->queue, key, false);
        return;
    }
    int64_t wait_ms = await_ms(jobs, key, job->json);
    if (wait_ms > 0) {
        workqueue_add_after(jobs->queue, key, wait_ms); /* or when it is shown */
        workqueue_done(jobs->queue, key, false);
        return;
    }
    reconcile(jobs, key, job);
}

/* ---- Hearing --------------------------------------------------------------------------------- */

static void pod_changed(struct jobs *jobs, const struct kube_object *pod)
{
    const struct json *owner = kube_meta_controller(pod->json);
    if (!str_eq(json_get_string(owner, "kind", ""), "Job") ||
        !str_eq(json_get_string(owner, "apiVersion", ""), "batch/v1"))
        return;
    _cleanup_free_ char *key =
        mem_printf("%s/%s", pod->namespace_, json_get_string(owner, "name", ""));
    struct kube_own_writes *writes = map_get(&jobs->writes, key);
    if (writes)
        kube_own_writes_saw(writes, pod->uid);
    workqueue_add(jobs->queue, key);
}

static void changed(void *self, const struct registry_resource *resource, struct kube_object *old,
                    struct kube_object *new_)
{
    struct jobs *jobs = self;
    const struct kube_object *object = new_ ? new_ : old;
    if (str_eq(resource->id.plural, "pods")) {
        pod_changed(jobs, object);
    } else if (str_eq(resource->id.plural, "jobs") && str_eq(resource->id.group, "batch")) {
        _cleanup_free_ char *key = mem_printf("%s/%s", object->namespace_, object->name);
        workqueue_add(jobs->queue, key);
    }
}

static void *start(struct hub *hub)
{
    struct jobs *jobs = mem_zalloc(sizeof(*jobs));
    jobs->hub = hub;
    jobs->queue = workqueue_new(hub_loop(hub), PARALLEL, work, jobs);
    map_init(&jobs->writes);
    return jobs;
}

static void stop(void *self)
{
    struct jobs *jobs = self;
    const char *key;
    void *value;
    workqueue_free(jobs->queue);
    for (size_t at = 0; map_next(&jobs->writes, &at, &key, &value);)
        writes_free(value);
    map_release(&jobs->writes);
    free(jobs);
}

const struct controller JOB_CONTROLLER = {start, changed, stop};
