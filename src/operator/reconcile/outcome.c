/* Decides whether a job has ended, with one function per rule. The first rule is success, because a
 * chief that succeeded decides the job, even if other replicas failed. Then follow permanently
 * failed replicas, and then the limits. training_pass_judge() returns exactly one result, so
 * Succeeded and Failed are never both true. Pure; part of the reconcile. */
#include "operator/reconcile/reconcile_internal.h"

#include "operator/reconcile/conditions.h"
#include "operator/reconcile/restarts.h"

#include "base/mem.h"
#include "base/str.h"

#include <inttypes.h>

/* Limits the number of replicas that the message of a failed job names. */
enum { NAMED_MAX = 3 };

static const char *backoff_message(const struct training_pass *pass)
{
    return arena_printf(pass->arena,
                        "Job %s has failed because it has reached the specified backoff limit",
                        pass->job.name);
}

static const char *deadline_message(const struct training_pass *pass)
{
    return arena_printf(pass->arena,
                        "Job %s has failed because it was active longer than specified deadline",
                        pass->job.name);
}

bool training_pass_was_stopped(const struct training_pass *pass)
{
    const struct json *failed = training_condition_get(pass->status, TRAINING_FAILED);
    const char *message = json_get_string(failed, "message", "");

    return str_eq(message, backoff_message(pass)) || str_eq(message, deadline_message(pass)) ||
           str_eq(json_get_string(failed, "reason", ""), TRAINING_FAILED_VALIDATION);
}

/* Returns whether all replicas of a type have succeeded. Returns false for zero replicas, because
 * the job then waits to be scaled up. */
static bool all_succeeded(const struct training_pass *pass, enum training_replica_type type)
{
    int replicas = pass->job.replicas[type].replicas;

    return replicas > 0 && training_replicas_count(&pass->replicas, type).succeeded == replicas;
}

/* Finds the replica type that decides the job's success. Returns false if the job has no such type.
 */
static bool deciding_type(const struct training_job *job, enum training_replica_type *ret)
{
    static const enum training_replica_type types[] = {TRAINING_CHIEF, TRAINING_MASTER,
                                                       TRAINING_WORKER};

    for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
        if (job->replicas[types[i]].present) {
            *ret = types[i];
            return true;
        }
    }
    return false;
}

/* Returns whether worker 0 has succeeded. If its pod is known, the exit code must be 0. If the pod
 * is gone, the annotation of finished replicas decides. */
static bool worker_0_completed(const struct training_pass *pass)
{
    const struct training_replica *worker =
        training_replicas_get(&pass->replicas, &pass->job, TRAINING_WORKER, 0);

    if (!worker || worker->state != TRAINING_REPLICA_SUCCEEDED)
        return false;
    return worker->pod.json ? worker->pod.exit_code == 0 : worker->finished;
}

static bool is_successful(const struct training_pass *pass)
{
    const struct training_job *job = &pass->job;
    enum training_replica_type type;

    if (!deciding_type(job, &type))
        return false;
    if (type != TRAINING_WORKER || all_succeeded(pass, type))
        return all_succeeded(pass, type);
    switch (job->success) {
    case TRAINING_SUCCESS_WORKER_0:
        return worker_0_completed(pass);
    case TRAINING_SUCCESS_ANY_WORKER:
        return training_replicas_count(&pass->replicas, TRAINING_WORKER).succeeded > 0;
    case TRAINING_SUCCESS_ALL_WORKERS:
        break;
    }
    return false;
}

bool training_pass_is_running(const struct training_pass *pass)
{
    const struct training_job *job = &pass->job;
    enum training_replica_type type;

    return deciding_type(job, &type) && training_replicas_count(&pass->replicas, type).active > 0;
}

/* Returns the number of restarts that are due now, plus the restarts in place that are lost with
 * the old pods. */
static int64_t count_due_restarts(const struct training_pass *pass)
{
    int64_t pods = 0, in_place = 0;

    for (size_t i = 0; i < pass->replicas.count; i++) {
        const struct training_replica *replica = &pass->replicas.items[i];

        if (training_replica_judge(replica, pass->job.replicas[replica->type].restart_policy) !=
            TRAINING_VERDICT_RESTART)
            continue;
        pods++;
        in_place += replica->pod.restarts;
    }
    /* Replicas that restart together count as one restart. */
    if (pass->job.restart_together && pods > 1)
        pods = 1;
    return pods + in_place;
}

static int count_verdicts(const struct training_pass *pass, enum training_replica_type type,
                          enum training_verdict verdict)
{
    int count = 0;

    for (int i = 0; i < pass->job.replicas[type].replicas; i++) {
        const struct training_replica *replica =
            training_replicas_get(&pass->replicas, &pass->job, type, i);

        count +=
            training_replica_judge(replica, pass->job.replicas[type].restart_policy) == verdict;
    }
    return count;
}

/* Returns whether the job continues although `failed` replicas of the type failed. Dynamic workers
 * may fail if the job has a chief, or if at least one worker is left. */
static bool is_dispensable(const struct training_pass *pass, enum training_replica_type type,
                           int failed)
{
    return pass->job.dynamic_worker && type == TRAINING_WORKER &&
           (training_job_has_chief(&pass->job) || failed < pass->job.replicas[type].replicas);
}

/* Returns a text such as "mnist-worker-1 exited with code 137 (OOMKilled)". Unknown parts are left
 * out. */
static const char *describe_failure(const struct training_pass *pass,
                                    const struct training_replica *replica)
{
    const char *name =
        training_replica_name(pass->arena, &pass->job, replica->type, replica->index);
    const char *reason = replica->pod.json
                             ? training_pod_end_reason(pass->job.kind, replica->pod.json)
                             : "PodDeleted";
    const char *cause = str_is_empty(reason) ? "" : arena_printf(pass->arena, " (%.100s)", reason);

    if (!replica->pod.json || replica->pod.exit_code == TRAINING_EXIT_CODE_NONE)
        return arena_printf(pass->arena, "%s failed%s", name, cause);
    return arena_printf(pass->arena, "%s exited with code %" PRId64 "%s", name,
                        replica->pod.exit_code, cause);
}

/* Describes the first replicas of a type that failed permanently. */
static const char *describe_failures(const struct training_pass *pass,
                                     enum training_replica_type type, int failed)
{
    const char *text = "";
    int named = 0;

    for (int i = 0; i < pass->job.replicas[type].replicas && named < NAMED_MAX; i++) {
        const struct training_replica *replica =
            training_replicas_get(&pass->replicas, &pass->job, type, i);

        if (training_replica_judge(replica, pass->job.replicas[type].restart_policy) !=
            TRAINING_VERDICT_FAIL)
            continue;
        text = arena_printf(pass->arena, "%s%s%s", text, named++ ? ", " : "",
                            describe_failure(pass, replica));
    }
    return failed > named ? arena_printf(pass->arena, "%s, and %d more", text, failed - named)
                          : text;
}

/* Returns the message for the first type with permanently failed replicas, or NULL if no such
 * replica fails the job. The message starts with the sentence of Kubeflow's operator, which tools
 * search for. */
static const char *failed_replicas_message(const struct training_pass *pass)
{
    const struct training_job *job = &pass->job;

    for (int t = 0; t < TRAINING_REPLICA_TYPES; t++) {
        enum training_replica_type type = (enum training_replica_type)t;
        int failed = count_verdicts(pass, type, TRAINING_VERDICT_FAIL);

        if (failed == 0 || is_dispensable(pass, type, failed))
            continue;
        const char *message = job->replicas[type].restart_policy == TRAINING_RESTART_EXIT_CODE
                                  ? job->kind->messages.failing
                                  : job->kind->messages.failed;
        return arena_printf(pass->arena, "%s %s",
                            training_job_message(pass->arena, job, message, type, failed),
                            describe_failures(pass, type, failed));
    }
    return NULL;
}

/* Returns whether the restarts exceed backoffLimit. As in a batch Job, a limit of N allows N new
 * pods, but the N-th restart in place already exceeds it. */
static bool is_past_backoff_limit(const struct training_pass *pass)
{
    int64_t stored, in_place;

    if (pass->job.backoff_limit < 0)
        return false;
    training_replicas_restarts(&pass->replicas, &pass->job, &stored, &in_place);
    int64_t due = count_due_restarts(pass);
    if (due > 0 && stored + in_place + due > pass->job.backoff_limit)
        return true;
    return in_place > 0 && stored + in_place >= pass->job.backoff_limit;
}

/* Reports how often each replica was restarted. The user cannot see this elsewhere: the pods are
 * deleted, and the condition has Kubeflow's message. */
static void report_restarts(struct training_pass *pass)
{
    for (size_t i = 0; i < pass->replicas.count; i++) {
        const struct training_replica *replica = &pass->replicas.items[i];
        int64_t restarts = replica->restarts + replica->pod.restarts;
        int64_t code = training_pod_last_exit_code(pass->job.kind, &replica->pod);
        const char *ended = "";

        if (restarts == 0 && replica->state != TRAINING_REPLICA_FAILED &&
            replica->state != TRAINING_REPLICA_LOST)
            continue;
        if (code != TRAINING_EXIT_CODE_NONE)
            ended = arena_printf(pass->arena, ", last with exit code %" PRId64, code);
        training_plan_event(pass->plan, true, "BackoffLimitExceeded",
                            "%s replica %d was restarted %" PRId64
                            " times%s; runPolicy.backoffLimit is %" PRId64 " for all replicas",
                            training_replica_type_name(replica->type), replica->index, restarts,
                            ended, pass->job.backoff_limit);
    }
}

/* Returns whether the job has run longer than activeDeadlineSeconds. Otherwise requests a pass at
 * the deadline, because possibly nothing else causes a pass at that time. */
static bool is_past_deadline(const struct training_pass *pass)
{
    int64_t started_ms = training_pass_time(pass, "startTime");

    if (pass->job.deadline_seconds < 0 || started_ms < 0)
        return false;
    int64_t left_ms = started_ms + pass->job.deadline_seconds * 1000 - pass->now_ms;
    if (left_ms <= 0)
        return true;
    training_plan_requeue(pass->plan, left_ms);
    return false;
}

bool training_pass_has_no_replicas(const struct training_pass *pass)
{
    enum training_replica_type type;

    return deciding_type(&pass->job, &type) && pass->job.replicas[type].replicas == 0;
}

static const char *no_replicas_message(const struct training_pass *pass)
{
    const struct training_job *job = &pass->job;
    enum training_replica_type type = TRAINING_WORKER;

    deciding_type(job, &type);
    return arena_printf(
        pass->arena,
        "%s %s has 0 replicas of %s, which decide whether the job succeeds: the job waits; set "
        "spec.%s.%s.replicas to 1 or more, or delete the job",
        job->kind->row->id.kind, job->name, training_replica_type_name(type), job->kind->specs,
        training_replica_type_name(type));
}

/* Reports a job that cannot succeed. Parameter servers and evaluators serve other replicas; alone
 * they neither make a job Running nor Succeeded. */
static void report_undecided(struct training_pass *pass)
{
    const struct training_job *job = &pass->job;
    enum training_replica_type type;

    if (!deciding_type(job, &type)) {
        training_plan_event(pass->plan, true, "NoDecidingReplica",
                            "%s %s has neither a Chief, a Master nor a Worker: it never becomes "
                            "Running or Succeeded, and ends when a replica fails, a limit is "
                            "reached or it is deleted",
                            job->kind->row->id.kind, job->name)
            ->once = true;
    } else if (training_pass_has_no_replicas(pass)) {
        training_plan_event(pass->plan, true, "NoDecidingReplica", "%s", no_replicas_message(pass))
            ->once = true;
    }
}

void training_pass_note_waiting(struct training_pass *pass)
{
    static const char *const activities[] = {TRAINING_RUNNING, TRAINING_RESTARTING};
    const char *reason = training_pass_reason(pass, "Waiting");
    const char *message = no_replicas_message(pass);
    const struct json *created = training_condition_get(pass->status, TRAINING_CREATED);

    if (!training_pass_has_no_replicas(pass)) {
        if (str_eq(json_get_string(created, "reason", ""), reason))
            training_pass_note_created(pass);
        return;
    }
    for (size_t i = 0; i < ARRAY_SIZE(activities); i++) {
        if (training_condition_is_true(pass->status, activities[i]))
            training_condition_set(pass->arena, pass->status, activities[i], false, reason, message,
                                   pass->now_ms);
    }
    training_condition_set(pass->arena, pass->status, TRAINING_CREATED, true, reason, message,
                           pass->now_ms);
}

struct training_judgement training_pass_judge(struct training_pass *pass)
{
    const struct training_messages *messages = &pass->job.kind->messages;
    bool with_chief = training_job_has_chief(&pass->job);
    struct training_judgement judgement = {.outcome = TRAINING_OUTCOME_FAILED};

    report_undecided(pass);
    if (is_successful(pass)) {
        judgement.outcome = TRAINING_OUTCOME_SUCCEEDED;
        judgement.message = training_pass_message(pass, with_chief || !messages->workers_succeeded
                                                            ? messages->succeeded
                                                            : messages->workers_succeeded);
        return judgement;
    }
    judgement.message = failed_replicas_message(pass);
    if (judgement.message)
        return judgement;
    if (is_past_backoff_limit(pass)) {
        judgement.message = backoff_message(pass);
        report_restarts(pass);
    } else if (is_past_deadline(pass))
        judgement.message = deadline_message(pass);
    else
        judgement.outcome = TRAINING_OUTCOME_NONE;
    return judgement;
}
