/* Runs Jobs: watches jobs and the pods that they control, calls job_reconcile() and carries out its
 * plan (run.h). All state that must survive a restart is in the objects. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/controllers/controllers.h"
#include "engine/controllers/job/job.h"
#include "engine/controllers/job/run.h"
#include "engine/controllers/workloads.h"
#include "kube/object.h"

#include <stdlib.h>
#include <string.h>

/* ---- Deciding -------------------------------------------------------------------------------- */

static int job_compare_age(const void *a, const void *b)
{
    const struct kube_object *x = *(struct kube_object *const *)a,
                             *y = *(struct kube_object *const *)b;
    int64_t left = kube_meta_created_ms(x->json), right = kube_meta_created_ms(y->json);
    return left != right ? (left < right ? -1 : 1) : strcmp(x->name, y->name);
}

/* Returns the pods of the job, the oldest first. */
static const struct json **job_gather_pods(struct job_run *run, size_t *ret_count)
{
    struct kube_informer *informer = hub_informer(run->run.hub, "pods");
    const struct kube_object *job = run->run.pass.workload;
    VEC(struct kube_object *) pods = {0};
    struct kube_object *pod;
    for (size_t at = 0; (pod = kube_informer_next(informer, job->namespace_, &at));)
        if (kube_meta_is_controlled_by(pod->json, job->uid))
            vec_push(&pods, pod);
    if (pods.count)
        qsort(pods.items, pods.count, sizeof(pods.items[0]), job_compare_age);
    *ret_count = pods.count;
    const struct json **trees = kube_pass_hold_all(&run->run.pass, pods.items, pods.count);
    vec_release(&pods);
    return trees;
}

static void job_make_plan(struct workload_run *workload_run)
{
    struct job_run *run = CONTAINER_OF(workload_run, struct job_run, run);
    struct kube_pass *pass = &run->run.pass;
    struct job_observed observed = {
        .job = pass->workload->json,
        .now_ms = loop_wall_ms(pass->loop),
    };
    observed.pods = job_gather_pods(run, &observed.pod_count);
    job_reconcile(pass->arena, &observed, &run->plan);
    run->run.requeue_ms = run->plan.requeue_ms;
}

static const struct workload_kind JOBS = {
    .storage = "jobs.batch",
    .component = JOB_COMPONENT,
    .stages = &JOB_RUN_STAGES,
    .run_size = sizeof(struct job_run),
    .plan = job_make_plan,
};

/* ---- Changes of objects ---------------------------------------------------------------------- */

static void on_job_pod_changed(void *self, struct kube_object *old, struct kube_object *new_)
{
    struct workloads *jobs = self;
    const struct kube_object *pod = new_ ? new_ : old;
    const struct json *owner = kube_meta_controller(pod->json);
    const char *name = json_get_string(owner, "name", "");
    if (!str_eq(json_get_string(owner, "kind", ""), "Job") ||
        !str_eq(json_get_string(owner, "apiVersion", ""), "batch/v1"))
        return;
    workloads_saw(jobs, pod->namespace_, name, pod->uid);
    workloads_add(jobs, pod->namespace_, name);
}

static void on_job_changed(void *self, struct kube_object *old, struct kube_object *new_)
{
    const struct kube_object *job = new_ ? new_ : old;
    workloads_add(self, job->namespace_, job->name);
}

static void *job_controller_start(struct hub *hub)
{
    struct workloads *jobs = mem_zalloc(sizeof(*jobs));
    workloads_init(jobs, hub, &JOBS);
    return jobs;
}

static void job_controller_stop(void *self)
{
    workloads_release(self);
    free(self);
}

static const struct controller_watch JOB_WATCHES[] = {
    {"jobs.batch", on_job_changed},
    {"pods", on_job_pod_changed},
    {NULL, NULL},
};

const struct controller JOB_CONTROLLER = {
    .start = job_controller_start,
    .stop = job_controller_stop,
    .watches = JOB_WATCHES,
};
