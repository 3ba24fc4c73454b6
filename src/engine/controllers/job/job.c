/* Decides one pass over a job; implements job_reconcile() of job.h. It checks in this order: is the
 * job being deleted, has it ended, did an earlier pass decide that it fails, is it complete, must
 * it fail now, is it suspended. */
#include "engine/controllers/job/internal.h"

#include "base/moment.h"
#include "base/str.h"
#include "kube/object.h"

static void release_all(struct job_pass *pass)
{
    for (size_t i = 0; i < pass->count; i++)
        if (pass->pods[i].tracked)
            job_plan_add(pass, JOB_RELEASE_POD, pass->pods[i].json);
}

/* ---- Ended ----------------------------------------------------------------------------------- */

static const struct json *end_condition(const struct json *status)
{
    static const char *const types[] = {"Complete", "Failed"};
    for (size_t i = 0; i < 2; i++)
        if (job_condition_is_true(status, types[i]))
            return job_condition_find(status, types[i]);
    return NULL;
}

/* Plans the deletion of the job for the end of its time to live. */
static void job_expire(struct job_pass *pass, int64_t ended_ms)
{
    if (pass->spec.ttl_s < 0 || ended_ms < 0)
        return;
    int64_t left_ms = moment_after(ended_ms, pass->spec.ttl_s) - pass->now_ms;
    if (left_ms > 0)
        job_plan_requeue(pass, left_ms);
    else
        job_plan_add(pass, JOB_DELETE_JOB, pass->observed->job);
}

/* Returns whether no pod of the job runs and every pod that has ended is counted. */
static bool is_every_pod_counted(const struct job_pass *pass)
{
    return pass->active + pass->leaving == 0 && pass->uncounted == 0 && !pass->has_more_to_count;
}

/* ---- Complete -------------------------------------------------------------------------------- */

static bool is_job_complete(const struct job_pass *pass)
{
    if (pass->spec.completions < 0)
        return pass->succeeded > 0 && pass->active + pass->leaving == 0;
    return pass->succeeded >= pass->spec.completions;
}

static void job_complete(struct job_pass *pass)
{
    job_pass_stop_all(pass, false);
    if (!is_every_pod_counted(pass))
        return;
    job_condition_set(pass, "Complete", true, "CompletionsReached",
                      "Reached expected number of succeeded pods");
    job_status_set_time(pass, "completionTime");
    job_plan_event(pass, false, "Completed", "Job completed");
    job_expire(pass, pass->now_ms);
}

/* ---- Failed ---------------------------------------------------------------------------------- */

/* Why the job fails. */
struct verdict {
    const char *reason, *message; /* both are NULL if the job does not fail */
};

/* Returns whether the containers have restarted too often in place. Such restarts count as
 * attempts, too. */
static bool restarted_too_often(const struct job_pass *pass)
{
    int64_t restarts = 0;
    for (size_t i = 0; i < pass->count; i++)
        if (pass->pods[i].state == JOB_POD_ACTIVE || pass->pods[i].state == JOB_POD_LEAVING)
            restarts += pass->pods[i].restarts;
    if (pass->spec.backoff_limit == 0)
        return restarts > 0;
    return restarts >= pass->spec.backoff_limit;
}

/* Returns whether the job's deadline has passed. If not, plans a pass at the deadline. */
static bool is_overdue(struct job_pass *pass)
{
    int64_t started_ms = job_status_time(pass->status, "startTime");
    if (pass->spec.deadline_s < 0 || pass->spec.suspend || started_ms < 0)
        return false;
    int64_t left_ms = moment_after(started_ms, pass->spec.deadline_s) - pass->now_ms;
    if (left_ms > 0)
        job_plan_requeue(pass, left_ms);
    return left_ms <= 0;
}

/* Returns the verdict of an earlier pass. The job keeps it, even if the remaining pods succeed
 * while they are stopped. */
static struct verdict earlier_verdict(const struct job_pass *pass)
{
    const struct json *given = job_condition_find(pass->status, "FailureTarget");
    return given ? (struct verdict){json_get_string(given, "reason", ""),
                                    json_get_string(given, "message", "")}
                 : (struct verdict){0};
}

/* Returns why the job must fail now. The reason is NULL if the job continues. */
static struct verdict job_judge(struct job_pass *pass)
{
    if (pass->failed > pass->spec.backoff_limit ||
        (pass->spec.restarts_in_place && restarted_too_often(pass)))
        return (struct verdict){"BackoffLimitExceeded",
                                "Job has reached the specified backoff limit"};
    if (is_overdue(pass))
        return (struct verdict){"DeadlineExceeded",
                                "Job was active longer than specified deadline"};
    return (struct verdict){0};
}

/* Stops the running pods first and counts them as failed, so that a job with the condition Failed
 * has really stopped. */
static void job_fail(struct job_pass *pass, struct verdict verdict)
{
    job_condition_set(pass, "FailureTarget", true, verdict.reason, verdict.message);
    job_pass_stop_all(pass, true);
    if (!is_every_pod_counted(pass))
        return;
    job_condition_set(pass, "Failed", true, verdict.reason, verdict.message);
    job_plan_event(pass, true, verdict.reason, verdict.message);
    job_expire(pass, pass->now_ms);
}

/* ---- Suspending and running ------------------------------------------------------------------ */

static void job_suspend(struct job_pass *pass)
{
    job_pass_stop_all(pass, false);
    json_remove(pass->status, "startTime");
    if (job_condition_is_true(pass->status, "Suspended"))
        return;
    job_condition_set(pass, "Suspended", true, "JobSuspended", "Job suspended");
    job_plan_event(pass, false, "Suspended", "Job suspended");
}

/* Ends a suspension, if there was one, and sets startTime. */
static void job_resume(struct job_pass *pass)
{
    if (job_condition_is_true(pass->status, "Suspended")) {
        job_condition_set(pass, "Suspended", false, "JobResumed", "Job resumed");
        job_plan_event(pass, false, "Resumed", "Job resumed");
        json_remove(pass->status, "startTime");
    }
    if (!json_get(pass->status, "startTime"))
        job_status_set_time(pass, "startTime");
}

/* ---- The whole pass -------------------------------------------------------------------------- */

static void job_decide(struct job_pass *pass)
{
    job_pass_count(pass);
    if (!pass->spec.suspend)
        job_resume(pass); /* sets startTime, even if the job ends in this pass */
    struct verdict verdict = earlier_verdict(pass);
    if (!verdict.reason && is_job_complete(pass)) {
        job_complete(pass);
        return;
    }
    if (!verdict.reason)
        verdict = job_judge(pass);
    if (verdict.reason)
        job_fail(pass, verdict);
    else if (pass->spec.suspend)
        job_suspend(pass);
    else
        job_pass_manage(pass);
}

static void job_pass_init(struct job_pass *pass, struct arena *arena,
                          const struct job_observed *observed, struct job_plan *plan)
{
    const struct json *status = json_get(observed->job, "status");
    *plan = (struct job_plan){.requeue_ms = -1};
    *pass = (struct job_pass){
        .observed = observed,
        .arena = arena,
        .now_ms = observed->now_ms,
        .pods = ARENA_ARRAY(arena, struct job_pod, observed->pod_count + 1),
        .count = observed->pod_count,
        .status = json_clone_object(arena, status),
        .plan = plan,
    };
    job_spec_read(observed->job, &pass->spec);
    map_init(&pass->by_uid);
    for (size_t i = 0; i < observed->pod_count; i++) {
        job_pod_read(observed->pods[i], observed->now_ms, &pass->pods[i]);
        map_put(&pass->by_uid, pass->pods[i].uid, &pass->pods[i]);
    }
    job_indexes_init(&pass->indexes, arena);
    if (pass->spec.indexed)
        job_indexes_parse(&pass->indexes, json_get_string(status, "completedIndexes", ""));
}

void job_reconcile(struct arena *arena, const struct job_observed *observed, struct job_plan *ret)
{
    struct job_pass pass;
    job_pass_init(&pass, arena, observed, ret);
    const struct json *ended = end_condition(pass.status);
    if (pass.spec.deleting) {
        release_all(&pass);
    } else if (ended) {
        release_all(&pass);
        job_expire(&pass, job_status_time(ended, "lastTransitionTime"));
    } else {
        job_decide(&pass);
        const struct json *status = json_get(observed->job, "status");
        if (!status || !json_equal(status, pass.status))
            ret->status = pass.status;
    }
    map_release(&pass.by_uid);
}
