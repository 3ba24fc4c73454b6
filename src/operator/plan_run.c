/* Carrying out a plan, stage by stage: the next stage starts when the last call of the one before
 * has been answered. Started by the controller, once at a time for a job. A call that fails does
 * not stop its stage, the others may succeed; but nothing is done that the failed stage was the
 * ground for: what is not remembered is not acted on, and no pod starts before its group and the
 * services. */
#include "operator/plan_run.h"

#include "operator/training_job.h"
#include "operator/training_metrics.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"

#include <stdlib.h>

enum stage {
    STAGE_REMEMBER,
    STAGE_GROUP,
    STAGE_SERVICES,
    STAGE_PODS,
    STAGE_AUTOSCALER,
    STAGE_STATUS,
    STAGES,
};

enum verb { CREATES, CHANGES, DELETES };

/* One action of the plan under way. */
struct call {
    struct plan_run *run;
    const struct training_action *action;
};

static const struct {
    enum stage stage;
    enum verb verb;
    const struct kube_resource *resource;
    enum job_part part;
    const char *noun;
    const char *done_reason, *failed_reason;
} ACTIONS[] = {
    [TRAINING_CREATE_SERVICE] = {STAGE_SERVICES, CREATES, &KUBE_SERVICES, JOB_SERVICES, "service",
                                 "SuccessfulCreateService", "FailedCreateService"},
    [TRAINING_CREATE_POD] = {STAGE_PODS, CREATES, &KUBE_PODS, JOB_PODS, "pod",
                             "SuccessfulCreatePod", "FailedCreatePod"},
    [TRAINING_DELETE_POD] = {STAGE_PODS, DELETES, &KUBE_PODS, JOB_PODS, "pod",
                             "SuccessfulDeletePod", "FailedDeletePod"},
    [TRAINING_DELETE_SERVICE] = {STAGE_PODS, DELETES, &KUBE_SERVICES, JOB_SERVICES, "service",
                                 "SuccessfulDeleteService", "FailedDeleteService"},
    [TRAINING_DELETE_JOB] = {STAGE_PODS, DELETES, NULL /* the kind's */, JOB_PARTS, "job",
                             "SuccessfulDeleteJob", "FailedDeleteJob"},
    /* Of the gang scheduler's resource. */
    [TRAINING_CREATE_POD_GROUP] = {STAGE_GROUP, CREATES, NULL, JOB_POD_GROUPS, "PodGroup",
                                   "SuccessfulCreatePodGroup", "FailedCreatePodGroup"},
    [TRAINING_UPDATE_POD_GROUP] = {STAGE_GROUP, CHANGES, NULL, JOB_POD_GROUPS, "PodGroup",
                                   "SuccessfulUpdatePodGroup", "FailedUpdatePodGroup"},
    [TRAINING_DELETE_POD_GROUP] = {STAGE_PODS, DELETES, NULL, JOB_POD_GROUPS, "PodGroup",
                                   "SuccessfulDeletePodGroup", "FailedDeletePodGroup"},
};

/* No answer says nothing about what was asked; the next pass will see. */
static bool is_answer(const struct err *err)
{
    return err->code != ERR_UNAVAILABLE && err->code != ERR_TIMEOUT && err->code != ERR_CANCELED;
}

static void fail_action(struct call *call, const struct err *err)
{
    static const char *const texts[] = {"Error creating", "Error updating", "Error deleting"};

    call->run->pass.failed = true;
    if (is_answer(err))
        kube_pass_tell(&call->run->pass, true, ACTIONS[call->action->type].failed_reason, "%s: %s",
                       texts[ACTIONS[call->action->type].verb], err->message);
}

static void tell_done(const struct call *call)
{
    static const char *const texts[] = {"Created", "Updated", "Deleted"};
    const enum training_action_type type = call->action->type;

    kube_pass_tell(&call->run->pass, false, ACTIONS[type].done_reason, "%s %s: %s",
                   texts[ACTIONS[type].verb], ACTIONS[type].noun, call->action->name);
}

static const struct kube_resource *resource_of(const struct call *call)
{
    const enum training_action_type type = call->action->type;

    if (ACTIONS[type].part == JOB_POD_GROUPS)
        return call->run->pod_groups;
    return type == TRAINING_DELETE_JOB ? call->run->kind->resource : ACTIONS[type].resource;
}

static void on_adopted(void *context, struct json *object, const struct err *err)
{
    struct call *call = context;

    if (err)
        fail_action(call, err);
    else
        job_entry_await_object(call->run->entry, ACTIONS[call->action->type].part, object,
                               loop_now_ms(call->run->pass.loop));
    kube_pass_answered(&call->run->pass);
}

/* It is the job's, but another operator made it, without the labels by which we would see it. */
static void adopt(struct call *call)
{
    struct plan_run *run = call->run;
    struct json *patch = json_object(run->pass.arena);

    json_set(run->pass.arena, json_ensure_object(run->pass.arena, patch, "metadata"), "labels",
             json_clone(run->pass.arena, kube_meta_labels(training_plan_object(
                                             &run->plan, call->action, run->pass.arena))));
    kube_patch(run->pass.client, resource_of(call), run->pass.workload->namespace_,
               call->action->name, NULL, patch, on_adopted, call);
}

/* What exists under the name may be ours, made by a call whose answer was lost. */
static void on_existing(void *context, struct json *object, const struct err *err)
{
    struct call *call = context;
    struct plan_run *run = call->run;
    struct err taken = ERR_INIT;

    if (err && err->code == ERR_NOT_FOUND) {
        run->pass.failed = true; /* gone again: the next pass makes it */
    } else if (err) {
        fail_action(call, err);
    } else if (kube_meta_is_controlled_by(object, run->pass.workload->uid)) {
        if (!kube_meta_label(object, TRAINING_OPERATOR_LABEL)) {
            adopt(call);
            return;
        }
        job_entry_await_object(run->entry, ACTIONS[call->action->type].part, object,
                               loop_now_ms(run->pass.loop));
    } else {
        err_set(&taken, ERR_EXISTS,
                "%s \"%s\" exists and does not belong to this job" TRAINING_NAME_TAKEN,
                ACTIONS[call->action->type].noun, call->action->name);
        run->pass.failed = true;
        if (!kube_meta_is_deleting(object) &&
            job_entry_say(run->entry, ACTIONS[call->action->type].failed_reason, taken.message))
            fail_action(call, &taken);
    }
    kube_pass_answered(&call->run->pass);
}

static void on_created(void *context, struct json *object, const struct err *err)
{
    struct call *call = context;
    struct plan_run *run = call->run;

    if (err && err->code == ERR_EXISTS) {
        kube_get(run->pass.client, resource_of(call), run->pass.workload->namespace_,
                 call->action->name, on_existing, call);
        return;
    }
    if (err) {
        fail_action(call, err);
    } else {
        job_entry_await_object(run->entry, ACTIONS[call->action->type].part, object,
                               loop_now_ms(run->pass.loop));
        tell_done(call);
    }
    kube_pass_answered(&call->run->pass);
}

static void on_deleted(void *context, struct json *object, const struct err *err)
{
    struct call *call = context;
    bool gone = err && (err->code == ERR_NOT_FOUND || err->code == ERR_CONFLICT);

    if (err && !gone)
        fail_action(call, err);
    else if (!gone)
        tell_done(call);
    kube_pass_answered(&call->run->pass);
}

static void on_changed(void *context, struct json *object, const struct err *err)
{
    struct call *call = context;

    /* It went, or is another by now: the next pass sees. */
    if (err && (err->code == ERR_NOT_FOUND || err->code == ERR_CONFLICT))
        call->run->pass.failed = true;
    else if (err)
        fail_action(call, err);
    kube_pass_answered(&call->run->pass);
}

static void start_action(struct plan_run *run, const struct training_action *action)
{
    struct call *call = ARENA_NEW(run->pass.arena, struct call);

    *call = (struct call){.run = run, .action = action};
    if (ACTIONS[action->type].verb == CREATES) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();

        kube_create(run->pass.client, resource_of(call), run->pass.workload->namespace_,
                    training_plan_object(&run->plan, action, arena), on_created, call);
    } else if (ACTIONS[action->type].verb == CHANGES) {
        kube_patch(run->pass.client, resource_of(call), run->pass.workload->namespace_,
                   action->name, NULL, action->object, on_changed, call);
    } else {
        struct kube_delete_options options = {
            .grace_period_seconds = action->force ? 0 : -1,
            .propagation = action->type == TRAINING_DELETE_JOB ? "Background" : NULL,
            .uid = action->uid,
        };

        kube_delete(run->pass.client, resource_of(call), run->pass.workload->namespace_,
                    action->name, &options, on_deleted, call);
    }
}

/* The job itself could not be written. A server that will not have it has a reason, and without a
 * word of it the job would wait for ever. */
static void give_up(struct plan_run *run, const struct err *err)
{
    if (is_answer(err) && err->code != ERR_NOT_FOUND && err->code != ERR_CONFLICT &&
        job_entry_say(run->entry, "FailedUpdateJob", err->message))
        kube_pass_tell(&run->pass, true, "FailedUpdateJob", "Error updating: %s", err->message);
    kube_pass_give_up(&run->pass, err);
}

static void on_remembered(void *context, struct json *object, const struct err *err)
{
    struct plan_run *run = context;

    if (err) {
        give_up(run, err);
    } else {
        run->resource_version = arena_strdup(run->pass.arena, kube_meta_resource_version(object));
        training_metrics_count_memory(run->metrics, run->pass.workload->json,
                                      run->plan.annotations);
        kube_pass_wrote(&run->pass, object);
    }
    kube_pass_answered(&run->pass);
}

static void start_remember(struct plan_run *run)
{
    struct json *patch = json_object(run->pass.arena);
    struct json *metadata = json_ensure_object(run->pass.arena, patch, "metadata");

    /* Only on top of what was read: another count must not be overwritten. */
    json_set_string(run->pass.arena, metadata, "resourceVersion",
                    kube_meta_resource_version(run->pass.workload->json));
    json_set(run->pass.arena, metadata, "annotations", run->plan.annotations);
    kube_patch(run->pass.client, run->kind->resource, run->pass.workload->namespace_,
               run->pass.workload->name, NULL, patch, on_remembered, run);
}

static void tell_events(struct plan_run *run)
{
    for (size_t i = 0; i < run->plan.event_count; i++) {
        const struct training_event *event = &run->plan.events[i];

        if (event->once && !job_entry_say(run->entry, event->reason, event->message))
            continue;
        kube_pass_tell(&run->pass, event->warning, event->reason, "%s", event->message);
    }
}

static void on_status_written(void *context, struct json *object, const struct err *err)
{
    struct plan_run *run = context;

    if (err) {
        give_up(run, err);
    } else {
        training_metrics_count_status(run->metrics, run->pass.workload->json, run->plan.status);
        kube_pass_wrote(&run->pass, object);
    }
    kube_pass_answered(&run->pass);
}

static void start_status(struct plan_run *run)
{
    struct json *object = json_clone(run->pass.arena, run->pass.workload->json);

    json_set(run->pass.arena, object, "status", json_clone(run->pass.arena, run->plan.status));
    if (run->resource_version)
        json_set_string(run->pass.arena, json_get(object, "metadata"), "resourceVersion",
                        run->resource_version);
    kube_update_status(run->pass.client, run->kind->resource, run->pass.workload->namespace_,
                       run->pass.workload->name, object, on_status_written, run);
}

/* A stage of one call, or of none. */
static bool start_only(struct plan_run *run, bool needed, void (*start)(struct plan_run *))
{
    if (!needed || run->pass.position++ > 0)
        return false;
    start(run);
    return true;
}

static bool start_next_action(struct plan_run *run)
{
    while (run->pass.position < run->plan.action_count) {
        const struct training_action *action = &run->plan.actions[run->pass.position++];

        if ((int)ACTIONS[action->type].stage == run->pass.stage) {
            start_action(run, action);
            return true;
        }
    }
    return false;
}

static bool start_next(struct kube_pass *pass)
{
    struct plan_run *run = CONTAINER_OF(pass, struct plan_run, pass);

    switch (pass->stage) {
    case STAGE_REMEMBER:
        return start_only(run, run->plan.annotations != NULL, start_remember);
    case STAGE_AUTOSCALER:
        return start_only(run, plan_run_needs_autoscaler(run), plan_run_start_autoscaler);
    case STAGE_STATUS:
        return start_only(run, run->plan.status != NULL, start_status);
    default:
        return start_next_action(run);
    }
}

static int after(struct kube_pass *pass)
{
    if (pass->stage == STAGE_STATUS)
        tell_events(CONTAINER_OF(pass, struct plan_run, pass));
    /* Only the first stages are grounds; a job that was gone has ended the pass itself. */
    if (pass->failed && (pass->stage == STAGE_GROUP || pass->stage == STAGE_SERVICES))
        return STAGE_STATUS;
    return pass->stage + 1;
}

const struct kube_pass_stages PLAN_RUN_STAGES = {STAGES, start_next, after};
