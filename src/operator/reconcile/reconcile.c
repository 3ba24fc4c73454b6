/* Runs the decisions for one job in their order; each decision has its own file. The controller
 * calls training_reconcile() when a job or one of its objects has changed, or when the job's
 * requeue time has come. Pure: there is no I/O and no clock, so the same observation gives the same
 * plan. */
#include "operator/reconcile/reconcile.h"

#include "operator/reconcile/autoscaler.h"
#include "operator/reconcile/conditions.h"
#include "operator/reconcile/host_network.h"
#include "operator/reconcile/progress_text.h"
#include "operator/reconcile/reconcile_internal.h"
#include "operator/reconcile/report_location.h"
#include "operator/reconcile/restarts.h"

#include "base/moment.h"
#include "base/str.h"
#include "kube/object.h"

int64_t training_pass_time(const struct training_pass *pass, const char *name)
{
    const char *text = json_get_string(pass->status, name, NULL);
    int64_t wall_ms;

    if (!text || moment_parse(text, &wall_ms, NULL) < 0)
        return -1;
    return wall_ms;
}

void training_pass_set_time(struct training_pass *pass, const char *name)
{
    char now[MOMENT_TEXT_MAX];

    moment_format(pass->now_ms, now);
    json_set_string(pass->arena, pass->status, name, now);
}

void training_pass_set_condition(struct training_pass *pass, const char *type, bool is_true,
                                 const char *reason, const char *message)
{
    if (training_condition_set(pass->arena, pass->status, type, is_true, reason, message,
                               pass->now_ms))
        training_plan_event(pass->plan, false, reason, "%s", message);
}

const char *training_pass_message(const struct training_pass *pass, const char *message)
{
    return training_job_message(pass->arena, &pass->job, message, TRAINING_WORKER, 0);
}

const char *training_pass_reason(const struct training_pass *pass, const char *event)
{
    return training_job_reason(pass->arena, &pass->job, event);
}

static void training_pass_init(struct training_pass *pass, const struct training_observed *observed,
                               struct arena *arena, struct training_plan *plan)
{
    *pass = (struct training_pass){
        .observed = observed, .arena = arena, .now_ms = observed->now_ms, .plan = plan};
    training_job_read(observed->kind, observed->job, &pass->job);
    if (observed->shared_address)
        training_job_share_address(&pass->job, observed->shared_address);
    training_host_ports_read(arena, &pass->job);
    pass->status = json_clone_object(arena, json_get(observed->job, "status"));
    training_replicas_init(&pass->replicas, arena, &pass->job);
    training_restarts_read(&pass->replicas, &pass->job, arena);
    training_replicas_observe(&pass->replicas, &pass->job, observed);
    training_pass_find_gang(pass);
}

static void fail_invalid(struct training_pass *pass, const struct err *why)
{
    training_condition_set(
        pass->arena, pass->status, TRAINING_FAILED, true, TRAINING_FAILED_VALIDATION,
        arena_printf(pass->arena, "%s %s/%s is not valid: %s", pass->job.kind->row->id.kind,
                     pass->job.namespace_, pass->job.name, why->message),
        pass->now_ms);
    training_pass_set_time(pass, "completionTime");
    training_plan_event(pass->plan, true, TRAINING_FAILED_VALIDATION, "%s", why->message);
}

void training_pass_note_created(struct training_pass *pass)
{
    training_condition_set(
        pass->arena, pass->status, TRAINING_CREATED, true, training_pass_reason(pass, "Created"),
        training_pass_message(pass, pass->job.kind->messages.created), pass->now_ms);
}

static void set_replica_statuses(struct training_pass *pass)
{
    struct json *statuses = json_ensure_object(pass->arena, pass->status, "replicaStatuses");

    for (int type = 0; type < TRAINING_REPLICA_TYPES; type++) {
        struct training_replica_counts counted =
            training_replicas_count(&pass->replicas, (enum training_replica_type)type);

        if (!pass->job.replicas[type].present) {
            /* a type that was removed from the spec has no status */
            json_remove(statuses, training_replica_type_name((enum training_replica_type)type));
            continue;
        }
        struct json *counts = json_set(pass->arena, statuses,
                                       training_replica_type_name((enum training_replica_type)type),
                                       json_object(pass->arena));
        /* The selector of this type's pods, which the scale subresource shows to autoscalers. */
        json_set(pass->arena, counts, "selector",
                 json_stringf(pass->arena, "%s=%s,%s=%s,%s=%s", TRAINING_NAME_LABEL, pass->job.name,
                              TRAINING_OPERATOR_LABEL, pass->job.kind->controller_name,
                              TRAINING_TYPE_LABEL,
                              training_replica_type_lower((enum training_replica_type)type)));
        /* Zeros are left out, as Kubeflow's operator does. */
        if (counted.active)
            json_set_int(pass->arena, counts, "active", counted.active);
        if (counted.succeeded)
            json_set_int(pass->arena, counts, "succeeded", counted.succeeded);
        if (counted.failed)
            json_set_int(pass->arena, counts, "failed", counted.failed);
    }
}

static void end_job(struct training_pass *pass, const struct training_judgement *judgement)
{
    bool succeeded = judgement->outcome == TRAINING_OUTCOME_SUCCEEDED;
    const char *reason = training_pass_reason(pass, succeeded ? "Succeeded" : "Failed");

    for (size_t i = 0; i < pass->replicas.count; i++) {
        const struct training_replica *replica = &pass->replicas.items[i];

        if (replica->state == TRAINING_REPLICA_FAILED || replica->state == TRAINING_REPLICA_LOST ||
            replica->state == TRAINING_REPLICA_SUCCEEDED)
            training_pass_report_exit(pass, replica);
    }
    training_condition_set(pass->arena, pass->status,
                           succeeded ? TRAINING_SUCCEEDED : TRAINING_FAILED, true, reason,
                           judgement->message, pass->now_ms);
    training_pass_set_time(pass, "completionTime");
    training_plan_event(pass->plan, !succeeded, reason, "%s", judgement->message);
}

static void pass_add_advice(struct training_pass *pass)
{
    struct training_advice advice[TRAINING_ADVICE_MAX];
    size_t count =
        pass->job.kind->advise ? pass->job.kind->advise(pass->arena, &pass->job, advice) : 0;

    for (size_t i = 0; i < count; i++)
        training_plan_event(pass->plan, true, advice[i].reason, "%s", advice[i].message)->once =
            true;
}

static void run_job(struct training_pass *pass)
{
    training_pass_report_pods(pass);
    pass_add_advice(pass);
    /* The time during which the job waits in a queue does not count. */
    if (training_pass_time(pass, "startTime") < 0 && !training_pass_waits_for_group(pass))
        training_pass_set_time(pass, "startTime");
    set_replica_statuses(pass);
    struct training_judgement judgement = training_pass_judge(pass);
    if (judgement.outcome != TRAINING_OUTCOME_NONE)
        end_job(pass, &judgement);
    else
        training_pass_continue(pass);
    if (judgement.outcome == TRAINING_OUTCOME_NONE)
        pass->plan->autoscaler = training_autoscaler_new(pass->arena, &pass->job);
}

static int pass_validate(const struct training_pass *pass, struct err *err)
{
    const struct training_kind *kind = pass->job.kind;
    int result = training_job_validate(kind, pass->job.json, err);

    if (result == 0 && kind->check)
        result = kind->check(pass->arena, &pass->job, pass->observed->cluster_domain, err);
    return result;
}

/* Copies the last progress and the path of the report from the chief's termination message to the
 * job. The progress reader asks only periodically, so it misses the last steps. */
static void keep_final_progress(struct training_pass *pass)
{
    const struct training_observed *observed = pass->observed;
    struct training_final_progress final;

    if (!training_progress_last(pass->arena, observed->pods, observed->pod_count, pass->job.uid,
                                &final))
        return;
    training_plan_annotate(pass->plan, pass->job.json, TRAINING_PROGRESS_ANNOTATION, final.text);
    enum training_replica_type type;
    const char *report = NULL;
    if (training_replica_type_parse(pass->job.kind, kube_meta_label(final.pod, TRAINING_TYPE_LABEL),
                                    &type))
        report = training_report_location(pass->arena, observed->claims, final.pod,
                                          json_get(pass->job.replicas[type].template, "spec"),
                                          final.container, final.report);
    if (report)
        training_plan_annotate(pass->plan, pass->job.json, TRAINING_REPORT_ANNOTATION, report);
}

static void pass_decide(struct training_pass *pass)
{
    struct err why = ERR_INIT;

    keep_final_progress(pass);
    if (training_is_finished(pass->status)) {
        training_pass_finished(pass);
        return;
    }
    if (json_count(json_get(pass->status, "conditions")) == 0)
        training_pass_note_created(pass);
    /* The definitions of Kubeflow 1.6 and before reject a status without this field. */
    json_ensure_object(pass->arena, pass->status, "replicaStatuses");
    if (pass_validate(pass, &why) < 0) {
        fail_invalid(pass, &why);
        return;
    }
    if (pass->job.suspend) {
        training_pass_suspended(pass);
        return;
    }
    if (training_condition_is_true(pass->status, TRAINING_SUSPENDED) && !training_pass_resume(pass))
        return;
    if (pass->observed->rejection) {
        err_set(&why, ERR_INVALID, "%s", pass->observed->rejection);
        fail_invalid(pass, &why);
        return;
    }
    run_job(pass);
}

/* Handles a job that this operator does not manage: plans nothing, and reports an unknown manager,
 * because the job would otherwise wait without an explanation. */
static void report_unknown_manager(const struct training_observed *observed,
                                   struct training_plan *plan)
{
    struct err why = ERR_INIT;

    if (training_managed_by_validate(json_get(observed->job, "spec"), &why) < 0)
        training_plan_event(plan, true, TRAINING_FAILED_VALIDATION, "%s", why.message)->once = true;
}

int training_reconcile(const struct training_observed *observed, struct arena *arena,
                       struct training_plan *ret_plan, struct err *err)
{
    struct training_plan plan;
    struct training_pass pass;

    if (str_is_empty(kube_meta_name(observed->job)) || str_is_empty(kube_meta_uid(observed->job)))
        return err_set(err, ERR_INTERNAL, "the job to reconcile has no name or no uid");

    training_plan_init(&plan, arena);
    if (kube_meta_is_deleting(observed->job)) {
        /* the garbage collector deletes its objects */
    } else if (training_job_is_managed_elsewhere(observed->job)) {
        report_unknown_manager(observed, &plan);
    } else {
        training_pass_init(&pass, observed, arena, &plan);
        training_pass_release(&pass);
        pass_decide(&pass);
        if (!json_equal(pass.status, json_get(observed->job, "status")))
            plan.status = pass.status;
    }
    *ret_plan = plan;
    return 0;
}
