/* The order of decisions for one job; each is made in a file of its own. Called by the controller
 * whenever something about a job has changed or its time has come. No input or output, no clock:
 * the same observation gives the same plan. */
#include "operator/reconcile.h"

#include "operator/conditions.h"
#include "operator/reconcile_internal.h"
#include "operator/restarts.h"

#include "base/moment.h"
#include "base/str.h"
#include "kube/object.h"

int64_t tfjob_pass_time(const struct tfjob_pass *pass, const char *name)
{
    const char *text = json_get_string(pass->status, name, NULL);
    int64_t wall_ms;

    if (!text || moment_parse(text, &wall_ms, NULL) < 0)
        return -1;
    return wall_ms;
}

void tfjob_pass_set_time(struct tfjob_pass *pass, const char *name)
{
    char now[MOMENT_TEXT_MAX];

    moment_format(pass->now_ms, now);
    json_set_string(pass->arena, pass->status, name, now);
}

void tfjob_pass_set_condition(struct tfjob_pass *pass, const char *type, bool is_true,
                              const char *reason, const char *message)
{
    if (tfjob_condition_set(pass->arena, pass->status, type, is_true, reason, message,
                            pass->now_ms))
        tfjob_plan_event(pass->plan, false, reason, "%s", message);
}

static void pass_init(struct tfjob_pass *pass, const struct tfjob_observed *observed,
                      struct arena *arena, struct tfjob_plan *plan)
{
    const struct json *status = json_get(observed->job, "status");

    *pass = (struct tfjob_pass){
        .observed = observed, .arena = arena, .now_ms = observed->now_ms, .plan = plan};
    tfjob_read(observed->job, &pass->job);
    pass->status =
        status && status->type == JSON_OBJECT ? json_clone(arena, status) : json_object(arena);
    tfjob_replicas_init(&pass->replicas, arena, &pass->job);
    tfjob_memory_read(&pass->replicas, &pass->job, arena);
    tfjob_replicas_observe(&pass->replicas, &pass->job, observed);
}

static void fail_invalid(struct tfjob_pass *pass, const struct err *why)
{
    tfjob_condition_set(pass->arena, pass->status, TFJOB_FAILED, true, "FailedValidation",
                        arena_printf(pass->arena, "TFJob %s/%s is not valid: %s",
                                     pass->job.namespace_, pass->job.name, why->message),
                        pass->now_ms);
    tfjob_pass_set_time(pass, "completionTime");
    tfjob_plan_event(pass->plan, true, "FailedValidation", "%s", why->message);
}

static void set_created(struct tfjob_pass *pass)
{
    if (json_count(json_get(pass->status, "conditions")) == 0)
        tfjob_condition_set(pass->arena, pass->status, TFJOB_CREATED, true, "TFJobCreated",
                            arena_printf(pass->arena, "TFJob %s is created.", pass->job.name),
                            pass->now_ms);
}

static void set_replica_statuses(struct tfjob_pass *pass)
{
    struct json *statuses = json_ensure_object(pass->arena, pass->status, "replicaStatuses");

    for (int type = 0; type < TFJOB_REPLICA_TYPES; type++) {
        struct tfjob_tally tally =
            tfjob_replicas_count(&pass->replicas, (enum tfjob_replica_type)type);
        struct json *counts;

        if (!pass->job.replicas[type].present)
            continue;
        counts =
            json_set(pass->arena, statuses, tfjob_replica_type_name((enum tfjob_replica_type)type),
                     json_object(pass->arena));
        /* Zeros are left out, as the incumbent does. */
        if (tally.active)
            json_set_int(pass->arena, counts, "active", tally.active);
        if (tally.succeeded)
            json_set_int(pass->arena, counts, "succeeded", tally.succeeded);
        if (tally.failed)
            json_set_int(pass->arena, counts, "failed", tally.failed);
    }
}

static void end_job(struct tfjob_pass *pass, const struct tfjob_judgement *judgement)
{
    bool succeeded = judgement->outcome == TFJOB_OUTCOME_SUCCEEDED;
    const char *reason = succeeded ? "TFJobSucceeded" : "TFJobFailed";

    for (size_t i = 0; i < pass->replicas.count; i++) {
        const struct tfjob_replica *replica = &pass->replicas.items[i];

        if (replica->state == TFJOB_REPLICA_FAILED || replica->state == TFJOB_REPLICA_SUCCEEDED)
            tfjob_pass_report_exit(pass, replica);
    }
    tfjob_condition_set(pass->arena, pass->status, succeeded ? TFJOB_SUCCEEDED : TFJOB_FAILED, true,
                        reason, judgement->message, pass->now_ms);
    tfjob_pass_set_time(pass, "completionTime");
    tfjob_plan_event(pass->plan, judgement->warning, reason, "%s", judgement->message);
}

static void run_job(struct tfjob_pass *pass)
{
    struct tfjob_judgement judgement;

    tfjob_pass_report_pods(pass);
    if (tfjob_pass_time(pass, "startTime") < 0)
        tfjob_pass_set_time(pass, "startTime");
    set_replica_statuses(pass);
    judgement = tfjob_pass_judge(pass);
    if (judgement.outcome != TFJOB_OUTCOME_NONE)
        end_job(pass, &judgement);
    else
        tfjob_pass_go_on(pass);
}

static void decide(struct tfjob_pass *pass)
{
    struct err why = ERR_INIT;

    if (tfjob_is_finished(pass->status)) {
        tfjob_pass_finished(pass);
        return;
    }
    set_created(pass);
    if (tfjob_spec_validate(pass->job.json, &why) < 0) {
        fail_invalid(pass, &why);
        return;
    }
    if (pass->job.suspend) {
        tfjob_pass_suspended(pass);
        return;
    }
    if (tfjob_condition_is_true(pass->status, TFJOB_SUSPENDED) && !tfjob_pass_resume(pass))
        return;
    run_job(pass);
}

int tfjob_reconcile(const struct tfjob_observed *observed, struct arena *arena,
                    struct tfjob_plan *ret_plan, struct err *err)
{
    struct tfjob_plan plan;
    struct tfjob_pass pass;

    if (str_is_empty(kube_meta_name(observed->job)) || str_is_empty(kube_meta_uid(observed->job)))
        return err_set(err, ERR_INTERNAL, "the job to reconcile has no name or no uid");

    tfjob_plan_init(&plan, arena);
    /* What is being deleted is left to the garbage collector. */
    if (!kube_meta_is_deleting(observed->job) && !tfjob_is_managed_elsewhere(observed->job)) {
        pass_init(&pass, observed, arena, &plan);
        decide(&pass);
        if (!json_equal(pass.status, json_get(observed->job, "status")))
            plan.status = pass.status;
    }
    *ret_plan = plan;
    return 0;
}
