/* The actions of a plan: the call that carries out each, and what its answer means. Started by
 * plan_run.c, some at a time. Nothing is decided here but what to make of an answer. */
#include "operator/plan_run.h"

#include "operator/training_job.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"

enum verb { CREATES, CHANGES, DELETES };

/* One action of the plan under way. */
struct call {
    struct plan_run *run;
    const struct training_action *action;
};

static const struct {
    enum plan_stage stage;
    enum verb verb;
    const struct kube_resource *resource;
    enum job_part part;
    const char *noun;
    const char *done_reason, *failed_reason;
} ACTIONS[] = {
    [TRAINING_CREATE_SERVICE] = {PLAN_SERVICES, CREATES, &KUBE_SERVICES, JOB_SERVICES, "service",
                                 "SuccessfulCreateService", "FailedCreateService"},
    [TRAINING_CREATE_POD] = {PLAN_PODS, CREATES, &KUBE_PODS, JOB_PODS, "pod", "SuccessfulCreatePod",
                             "FailedCreatePod"},
    [TRAINING_DELETE_POD] = {PLAN_PODS, DELETES, &KUBE_PODS, JOB_PODS, "pod", "SuccessfulDeletePod",
                             "FailedDeletePod"},
    [TRAINING_DELETE_SERVICE] = {PLAN_PODS, DELETES, &KUBE_SERVICES, JOB_SERVICES, "service",
                                 "SuccessfulDeleteService", "FailedDeleteService"},
    [TRAINING_DELETE_JOB] = {PLAN_PODS, DELETES, NULL /* the kind's */, JOB_PARTS, "job",
                             "SuccessfulDeleteJob", "FailedDeleteJob"},
    /* Of the gang scheduler's resource. */
    [TRAINING_CREATE_POD_GROUP] = {PLAN_GROUP, CREATES, NULL, JOB_POD_GROUPS, "PodGroup",
                                   "SuccessfulCreatePodGroup", "FailedCreatePodGroup"},
    [TRAINING_UPDATE_POD_GROUP] = {PLAN_GROUP, CHANGES, NULL, JOB_POD_GROUPS, "PodGroup",
                                   "SuccessfulUpdatePodGroup", "FailedUpdatePodGroup"},
    [TRAINING_DELETE_POD_GROUP] = {PLAN_PODS, DELETES, NULL, JOB_POD_GROUPS, "PodGroup",
                                   "SuccessfulDeletePodGroup", "FailedDeletePodGroup"},
};

enum plan_stage plan_action_stage(const struct training_action *action)
{
    return ACTIONS[action->type].stage;
}

bool plan_action_is_answer(const struct err *err)
{
    return err->code != ERR_UNAVAILABLE && err->code != ERR_TIMEOUT && err->code != ERR_CANCELED;
}

static void fail_action(struct call *call, const struct err *err)
{
    static const char *const texts[] = {"Error creating", "Error updating", "Error deleting"};

    call->run->pass.failed = true;
    if (plan_action_is_answer(err))
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

void plan_action_start(struct plan_run *run, const struct training_action *action)
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
