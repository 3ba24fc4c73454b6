/* How a job ends. One rule a function, asked in this order: success first, because a chief that is
 * done is done whatever became of its helpers; then the replicas that failed for good; then the
 * limits. Exactly one answer comes out, so Succeeded and Failed are never both true. Pure. */
#include "operator/reconcile_internal.h"

#include "operator/conditions.h"
#include "operator/restarts.h"

#include "base/str.h"

static const char *backoff_message(const struct tfjob_pass *pass)
{
    return arena_printf(pass->arena,
                        "Job %s has failed because it has reached the specified backoff limit",
                        pass->job.name);
}

static const char *deadline_message(const struct tfjob_pass *pass)
{
    return arena_printf(pass->arena,
                        "Job %s has failed because it was active longer than specified deadline",
                        pass->job.name);
}

bool tfjob_pass_failed_by_limit(const struct tfjob_pass *pass)
{
    const struct json *failed = tfjob_condition_get(pass->status, TFJOB_FAILED);
    const char *message = json_get_string(failed, "message", "");

    return str_eq(message, backoff_message(pass)) || str_eq(message, deadline_message(pass));
}

static bool all_succeeded(const struct tfjob_pass *pass, enum tfjob_replica_type type)
{
    return tfjob_replicas_count(&pass->replicas, type).succeeded ==
           pass->job.replicas[type].replicas;
}

/* Worker 0 stands for the job where there is no chief; its exit code must be known to be 0. */
static bool worker_0_completed(const struct tfjob_pass *pass)
{
    const struct tfjob_replica *worker =
        tfjob_replicas_get(&pass->replicas, &pass->job, TFJOB_WORKER, 0);

    if (!worker || worker->state != TFJOB_REPLICA_SUCCEEDED)
        return false;
    return worker->pod.json ? worker->pod.exit_code == 0 : worker->finished;
}

static bool is_successful(const struct tfjob_pass *pass)
{
    const struct tfjob *job = &pass->job;

    if (job->replicas[TFJOB_CHIEF].present)
        return all_succeeded(pass, TFJOB_CHIEF);
    if (job->replicas[TFJOB_MASTER].present)
        return all_succeeded(pass, TFJOB_MASTER);
    if (!job->replicas[TFJOB_WORKER].present)
        return false;
    return all_succeeded(pass, TFJOB_WORKER) || (!job->all_workers && worker_0_completed(pass));
}

bool tfjob_pass_is_running(const struct tfjob_pass *pass)
{
    const struct tfjob *job = &pass->job;
    enum tfjob_replica_type type = TFJOB_WORKER;

    if (job->replicas[TFJOB_CHIEF].present)
        type = TFJOB_CHIEF;
    else if (job->replicas[TFJOB_MASTER].present)
        type = TFJOB_MASTER;
    return tfjob_replicas_count(&pass->replicas, type).active > 0;
}

static int count_verdicts(const struct tfjob_pass *pass, enum tfjob_replica_type type,
                          enum tfjob_verdict verdict)
{
    int count = 0;

    for (int i = 0; i < pass->job.replicas[type].replicas; i++) {
        const struct tfjob_replica *replica =
            tfjob_replicas_get(&pass->replicas, &pass->job, type, i);

        count += tfjob_replica_judge(replica, pass->job.replicas[type].restart_policy) == verdict;
    }
    return count;
}

/* The message of the first type with replicas that failed for good, or NULL. */
static const char *failed_replicas(const struct tfjob_pass *pass, bool *ret_warning)
{
    const struct tfjob *job = &pass->job;

    for (int t = 0; t < TFJOB_REPLICA_TYPES; t++) {
        enum tfjob_replica_type type = (enum tfjob_replica_type)t;
        int failed = count_verdicts(pass, type, TFJOB_VERDICT_FAIL);

        /* Dynamic workers may come and go. */
        if (failed == 0 || (job->dynamic_worker && type == TFJOB_WORKER))
            continue;
        *ret_warning = job->replicas[type].restart_policy == TFJOB_RESTART_EXIT_CODE;
        if (*ret_warning)
            return arena_printf(pass->arena,
                                "job \"%s\" is failing because \"%s\" replica(s) failed.",
                                job->name, tfjob_replica_type_name(type));
        return arena_printf(pass->arena, "TFJob %s/%s has failed because %d %s replica(s) failed.",
                            job->namespace_, job->name, failed, tfjob_replica_type_name(type));
    }
    return NULL;
}

/* As for a batch Job: a limit of N allows N new pods, and N restarts in place are one too many
 * (the first try counts there). */
static bool is_past_backoff_limit(const struct tfjob_pass *pass)
{
    int64_t remembered, in_place, new_failures = 0;

    if (pass->job.backoff_limit < 0)
        return false;
    tfjob_replicas_restarts(&pass->replicas, &pass->job, &remembered, &in_place);
    for (int type = 0; type < TFJOB_REPLICA_TYPES; type++)
        new_failures += count_verdicts(pass, (enum tfjob_replica_type)type, TFJOB_VERDICT_RESTART);
    /* Restarted together, they restart once. */
    if (pass->job.restart_together && new_failures > 1)
        new_failures = 1;
    if (new_failures > 0 && remembered + in_place + new_failures > pass->job.backoff_limit)
        return true;
    return in_place > 0 && remembered + in_place >= pass->job.backoff_limit;
}

/* Asks for another look when the deadline comes, since nothing else may happen until then. */
static bool is_past_deadline(const struct tfjob_pass *pass)
{
    int64_t started_ms = tfjob_pass_time(pass, "startTime");
    int64_t left_ms;

    if (pass->job.deadline_seconds < 0 || started_ms < 0)
        return false;
    left_ms = started_ms + pass->job.deadline_seconds * 1000 - pass->now_ms;
    if (left_ms <= 0)
        return true;
    tfjob_plan_requeue(pass->plan, left_ms);
    return false;
}

struct tfjob_judgement tfjob_pass_judge(struct tfjob_pass *pass)
{
    struct tfjob_judgement judgement = {.outcome = TFJOB_OUTCOME_FAILED};

    if (is_successful(pass)) {
        judgement.outcome = TFJOB_OUTCOME_SUCCEEDED;
        judgement.message = arena_printf(pass->arena, "TFJob %s/%s successfully completed.",
                                         pass->job.namespace_, pass->job.name);
        return judgement;
    }
    judgement.message = failed_replicas(pass, &judgement.warning);
    if (judgement.message)
        return judgement;
    if (is_past_backoff_limit(pass))
        judgement.message = backoff_message(pass);
    else if (is_past_deadline(pass))
        judgement.message = deadline_message(pass);
    else
        judgement.outcome = TFJOB_OUTCOME_NONE;
    return judgement;
}
