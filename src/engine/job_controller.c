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
    CALLS_MAX = 16,
    UNSYNCED_MS = 20,
};

struct jobs {
    struct hub *hub;
    struct workqueue *queue;
    struct map writes;        /* key of a job → struct kube_own_writes */
    struct kube_pass *passes; /* under way; each of a job_run */
};

/* ---- Our own writes -------------------------------------------------------------------------- */

static void writes_free(struct kube_own_writes *writes)
{
    if (!writes)
        return;
    kube_own_writes_release(writes);
    free(writes);
}

static struct kube_own_writes *writes_of(struct jobs *jobs, const char *key)
{
    struct kube_own_writes *writes = map_get(&jobs->writes, key);
    if (!writes) {
        writes = mem_zalloc(sizeof(*writes));
        kube_own_writes_init(writes);
        map_put(&jobs->writes, key, writes);
    }
    return writes;
}

/* ---- Working --------------------------------------------------------------------------------- */

static void run_free(struct job_run *run)
{
    kube_pass_release(&run->pass);
    free(run->key);
    free(run);
}

static void on_done(void *context, struct kube_pass *pass)
{
    struct jobs *jobs = context;
    struct job_run *run = CONTAINER_OF(pass, struct job_run, pass);
    if (!pass->failed && run->plan.requeue_ms >= 0)
        workqueue_add_after(jobs->queue, run->key, run->plan.requeue_ms);
    workqueue_done(jobs->queue, run->key, pass->failed);
    run_free(run);
}

static int compare_age(const void *a, const void *b)
{
    const struct kube_object *x = *(struct kube_object *const *)a,
                             *y = *(struct kube_object *const *)b;
    int64_t left = kube_meta_created_ms(x->json), right = kube_meta_created_ms(y->json);
    return left != right ? (left < right ? -1 : 1) : strcmp(x->name, y->name);
}

/* The oldest first. */
static const struct json **gather_pods(struct jobs *jobs, struct job_run *run, size_t *ret_count)
{
    struct kube_informer *informer = hub_informer(jobs->hub, "pods");
    const struct kube_object *job = run->pass.workload;
    VEC(struct kube_object *) pods = {0};
    struct kube_object *pod;
    for (size_t at = 0; (pod = kube_informer_next(informer, job->namespace_, &at));)
        if (kube_meta_is_controlled_by(pod->json, job->uid))
            vec_push(&pods, pod);
    if (pods.count)
        qsort(pods.items, pods.count, sizeof(pods.items[0]), compare_age);
    *ret_count = pods.count;
    const struct json **trees = kube_pass_hold_all(&run->pass, pods.items, pods.count);
    vec_release(&pods);
    return trees;
}

static struct job_run *run_new(struct jobs *jobs, const char *key, struct kube_object *job)
{
    struct job_run *run = mem_zalloc(sizeof(*run));
    kube_pass_init(&run->pass, &jobs->passes, job);
    run->pass.stages = &JOB_RUN_STAGES;
    run->pass.loop = hub_loop(jobs->hub);
    run->pass.client = hub_client(jobs->hub);
    run->pass.component = JOB_COMPONENT;
    run->pass.calls_max = CALLS_MAX;
    run->pass.writes = writes_of(jobs, key);
    run->pass.done = on_done;
    run->pass.context = jobs;
    run->hub = jobs->hub;
    run->key = mem_strdup(key);
    return run;
}

static void reconcile(struct jobs *jobs, const char *key, struct kube_object *job)
{
    struct job_run *run = run_new(jobs, key, job);
    struct job_observed observed = {
        .job = job->json,
        .now_ms = loop_wall_ms(hub_loop(jobs->hub)),
    };
    observed.pods = gather_pods(jobs, run, &observed.pod_count);
    job_reconcile(run->pass.arena, &observed, &run->plan);
    kube_pass_start(&run->pass);
}

static void work(void *context, const char *key)
{
    struct jobs *jobs = context;
    if (!hub_synced(jobs->hub)) {
        workqueue_put_off(jobs->queue, key, UNSYNCED_MS);
        return;
    }
    struct kube_object *job = kube_informer_find(hub_informer(jobs->hub, "jobs.batch"), key);
    if (!job) {
        writes_free(map_remove(&jobs->writes, key));
        workqueue_done(jobs->queue, key, false);
        return;
    }
    int64_t wait_ms =
        kube_own_writes_wait_ms(writes_of(jobs, key), job->json, loop_now_ms(hub_loop(jobs->hub)));
    if (wait_ms > 0) {
        workqueue_put_off(jobs->queue, key, wait_ms); /* or when it is shown */
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
    for (struct kube_pass *pass = jobs->passes, *next; pass; pass = next) {
        next = pass->next;
        run_free(CONTAINER_OF(pass, struct job_run, pass));
    }
    workqueue_free(jobs->queue);
    for (size_t at = 0; map_next(&jobs->writes, &at, &key, &value);)
        writes_free(value);
    map_release(&jobs->writes);
    free(jobs);
}

const struct controller JOB_CONTROLLER = {start, changed, stop};
