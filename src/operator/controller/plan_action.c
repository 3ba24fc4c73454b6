/* Runs the actions of a plan; see plan_run.h. Makes the API call of each action and handles the
 * answer. plan_run.c starts the actions, several at once. */
#include "operator/controller/plan_run.h"

#include "operator/kind/training_job.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"

#include <string.h>

enum verb { CREATES, CHANGES, DELETES, ADOPTS, RELEASES };

/* An action whose call is in flight. */
struct call {
    struct plan_run *run;
    const struct training_action *action;
};

/* The properties of each type of action. `part` is the part of the job entry that contains the
 * object, or JOB_PARTS for the job itself. */
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
    [TRAINING_DELETE_JOB] = {PLAN_PODS, DELETES, NULL /* the resource of the kind */, JOB_PARTS,
                             "job", "SuccessfulDeleteJob", "FailedDeleteJob"},
    /* The resource depends on the gang scheduler. */
    [TRAINING_CREATE_POD_GROUP] = {PLAN_GROUP, CREATES, NULL, JOB_POD_GROUPS, "PodGroup",
                                   "SuccessfulCreatePodGroup", "FailedCreatePodGroup"},
    [TRAINING_UPDATE_POD_GROUP] = {PLAN_GROUP, CHANGES, NULL, JOB_POD_GROUPS, "PodGroup",
                                   "SuccessfulUpdatePodGroup", "FailedUpdatePodGroup"},
    [TRAINING_DELETE_POD_GROUP] = {PLAN_PODS, DELETES, NULL, JOB_POD_GROUPS, "PodGroup",
                                   "SuccessfulDeletePodGroup", "FailedDeletePodGroup"},
    [TRAINING_ADOPT_POD] = {PLAN_CLAIM, ADOPTS, &KUBE_PODS, JOB_PODS, "pod", "SuccessfulAdoptPod",
                            "FailedAdoptPod"},
    [TRAINING_ADOPT_SERVICE] = {PLAN_CLAIM, ADOPTS, &KUBE_SERVICES, JOB_SERVICES, "service",
                                "SuccessfulAdoptService", "FailedAdoptService"},
    [TRAINING_ADOPT_POD_GROUP] = {PLAN_CLAIM, ADOPTS, NULL, JOB_POD_GROUPS, "PodGroup",
                                  "SuccessfulAdoptPodGroup", "FailedAdoptPodGroup"},
    [TRAINING_RELEASE_POD] = {PLAN_CLAIM, RELEASES, &KUBE_PODS, JOB_UNMATCHED_PODS, "pod",
                              "SuccessfulReleasePod", "FailedReleasePod"},
};

enum plan_stage plan_action_stage(const struct training_action *action)
{
    return ACTIONS[action->type].stage;
}

bool plan_action_adopts(const struct training_action *action)
{
    return ACTIONS[action->type].verb == ADOPTS;
}

bool plan_action_creates(const struct training_action *action)
{
    return ACTIONS[action->type].verb == CREATES;
}

static void fail_action(struct call *call, const struct err *err)
{
    static const char *const texts[] = {"Error creating", "Error updating", "Error deleting",
                                        "Error adopting", "Error releasing"};

    call->run->pass.failed = true;
    if (!kube_pass_has_answer(err))
        kube_pass_abort(&call->run->pass, err);
    else
        kube_pass_event(&call->run->pass, true, ACTIONS[call->action->type].failed_reason, "%s: %s",
                        texts[ACTIONS[call->action->type].verb], err->message);
}

static void report_done(const struct call *call)
{
    static const char *const texts[] = {"Created", "Updated", "Deleted", "Adopted", "Released"};
    const enum training_action_type type = call->action->type;

    kube_pass_event(&call->run->pass, false, ACTIONS[type].done_reason, "%s %s: %s",
                    texts[ACTIONS[type].verb], ACTIONS[type].noun, call->action->name);
}

static const struct kube_resource *action_resource(const struct call *call)
{
    const enum training_action_type type = call->action->type;

    if (ACTIONS[type].part == JOB_POD_GROUPS)
        return call->run->pod_groups;
    return type == TRAINING_DELETE_JOB ? call->run->kind->resource : ACTIONS[type].resource;
}

static void on_action_labelled(void *context, struct json *object, const struct err *err)
{
    struct call *call = context;

    if (err)
        fail_action(call, err);
    else
        job_entry_await_object(call->run->entry, ACTIONS[call->action->type].part, object,
                               loop_now_ms(call->run->pass.loop));
    kube_pass_answered(&call->run->pass);
}

/* Adds the labels that the informers select to an object that the job controls. Another operator
 * created the object without these labels. */
static void set_labels(struct call *call)
{
    struct plan_run *run = call->run;
    struct json *patch = json_object(run->pass.arena);

    json_set(run->pass.arena, json_ensure_object(run->pass.arena, patch, "metadata"), "labels",
             json_clone(run->pass.arena, kube_meta_labels(training_plan_object(
                                             &run->plan, call->action, run->pass.arena))));
    kube_patch(run->pass.client, action_resource(call), run->pass.workload->namespace_,
               call->action->name, NULL, patch, on_action_labelled, call);
}

/* Returns whether the object has the job's labels but no controller. When the informer shows the
 * object, the reconcile adopts it or reports why not. */
static bool is_to_be_adopted(const struct plan_run *run, const struct json *object)
{
    return !kube_meta_controller(object) &&
           str_eq(kube_meta_label(object, TRAINING_OPERATOR_LABEL), run->kind->controller_name) &&
           str_eq(kube_meta_label(object, TRAINING_NAME_LABEL), run->pass.workload->name);
}

/* Handles an object that exists already. The object may belong to the job: an earlier call created
 * it, but the answer of that call was lost. */
static void on_existing(void *context, struct json *object, const struct err *err)
{
    struct call *call = context;
    struct plan_run *run = call->run;
    struct err taken = ERR_INIT;

    if (err && err->code == ERR_NOT_FOUND) {
        run->pass.failed = true; /* the object is gone already, and the next pass creates it */
    } else if (err) {
        fail_action(call, err);
    } else if (kube_meta_is_controlled_by(object, run->pass.workload->uid)) {
        if (!kube_meta_label(object, TRAINING_OPERATOR_LABEL)) {
            set_labels(call);
            return;
        }
        job_entry_await_object(run->entry, ACTIONS[call->action->type].part, object,
                               loop_now_ms(run->pass.loop));
    } else {
        err_set(&taken, ERR_EXISTS,
                "%s \"%s\" exists and does not belong to this job" TRAINING_NAME_TAKEN,
                ACTIONS[call->action->type].noun, call->action->name);
        run->pass.failed = true;
        if (!kube_meta_is_deleting(object) && !is_to_be_adopted(run, object) &&
            job_entry_record_event(run->entry, ACTIONS[call->action->type].failed_reason,
                                   taken.message))
            fail_action(call, &taken);
    }
    kube_pass_answered(&call->run->pass);
}

bool plan_error_is_final(const struct err *err)
{
    return (err->code == ERR_INVALID || err->code == ERR_BAD_REQUEST) &&
           !strstr(err->message, "denied the request") && !strstr(err->message, "denied request");
}

/* Handles a pod that the server permanently rejects: this pass creates no further objects, and the
 * next pass fails the job. */
static void note_rejected_pod(struct call *call, const struct err *err)
{
    struct plan_run *run = call->run;

    run->pass.failed = true;
    run->creates_nothing = true;
    job_entry_reject(
        run->entry, run->pass.workload->json,
        arena_printf(run->pass.arena, "spec.%s[%s].template: the API server refuses the pod: %s",
                     run->kind->specs, training_replica_type_name(call->action->replica_type),
                     err->message));
}

static void on_action_created(void *context, struct json *object, const struct err *err)
{
    struct call *call = context;
    struct plan_run *run = call->run;

    if (err && err->code == ERR_EXISTS) {
        kube_get(run->pass.client, action_resource(call), run->pass.workload->namespace_,
                 call->action->name, on_existing, call);
        return;
    }
    if (err && call->action->type == TRAINING_CREATE_POD && plan_error_is_final(err)) {
        note_rejected_pod(call, err);
    } else if (err) {
        fail_action(call, err);
    } else {
        job_entry_await_object(run->entry, ACTIONS[call->action->type].part, object,
                               loop_now_ms(run->pass.loop));
        report_done(call);
    }
    kube_pass_answered(&call->run->pass);
}

static void on_action_deleted(void *context, struct json *object, const struct err *err)
{
    struct call *call = context;
    bool gone = err && (err->code == ERR_NOT_FOUND || err->code == ERR_CONFLICT);

    if (err && !gone)
        fail_action(call, err);
    else if (!gone)
        report_done(call);
    kube_pass_answered(&call->run->pass);
}

static void on_action_changed(void *context, struct json *object, const struct err *err)
{
    struct call *call = context;
    const enum verb verb = ACTIONS[call->action->type].verb;
    /* The object is gone or was replaced. The next pass works with the new state. */
    bool gone = err && (err->code == ERR_NOT_FOUND || err->code == ERR_CONFLICT);

    if (gone)
        call->run->pass.failed = true;
    else if (err)
        fail_action(call, err);
    else if (verb == ADOPTS || verb == RELEASES)
        report_done(call);
    kube_pass_answered(&call->run->pass);
}

static void drop_unmatched(struct call *call)
{
    job_entry_drop_unmatched(call->run->entry, call->action->name);
}

/* Handles the answer about a pod whose release failed with a conflict. The next pass tries again,
 * unless the pod is gone. */
static void on_unmatched_pod_read(void *context, struct json *object, const struct err *err)
{
    struct call *call = context;

    call->run->pass.failed = true;
    if (err ? err->code == ERR_NOT_FOUND : !str_eq(kube_meta_uid(object), call->action->uid))
        drop_unmatched(call);
    kube_pass_answered(&call->run->pass);
}

/* Drops the released pod from the cache, because no informer shows a pod with other labels. */
static void on_released(void *context, struct json *object, const struct err *err)
{
    struct call *call = context;
    struct kube_pass *pass = &call->run->pass;

    if (err && err->code == ERR_CONFLICT) {
        kube_get(pass->client, action_resource(call), pass->workload->namespace_,
                 call->action->name, on_unmatched_pod_read, call);
        return;
    }
    if (!err || err->code == ERR_NOT_FOUND)
        drop_unmatched(call);
    on_action_changed(call, object, err);
}

static void start_delete(struct call *call)
{
    const struct training_action *action = call->action;
    struct kube_pass *pass = &call->run->pass;
    struct kube_delete_options options = {
        .grace_period_seconds = action->force ? 0 : -1,
        .propagation = action->type == TRAINING_DELETE_JOB ? "Background" : NULL,
        .uid = action->uid,
    };

    kube_delete(pass->client, action_resource(call), pass->workload->namespace_, action->name,
                &options, on_action_deleted, call);
}

static void start_create(struct call *call)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct kube_pass *pass = &call->run->pass;

    kube_create_metadata_only(pass->client, action_resource(call), pass->workload->namespace_,
                              training_plan_object(&call->run->plan, call->action, arena),
                              call->action->type == TRAINING_CREATE_POD, on_action_created, call);
}

static void start_patch(struct call *call)
{
    const struct training_action *action = call->action;
    struct kube_pass *pass = &call->run->pass;
    kube_done *done = ACTIONS[action->type].verb == RELEASES ? on_released : on_action_changed;

    /* Strategic merge patches do not exist for custom resources. */
    if (ACTIONS[action->type].part == JOB_POD_GROUPS)
        kube_patch(pass->client, action_resource(call), pass->workload->namespace_, action->name,
                   NULL, action->object, done, call);
    else
        kube_strategic_patch(pass->client, action_resource(call), pass->workload->namespace_,
                             action->name, action->object, done, call);
}

void plan_action_start(struct plan_run *run, const struct training_action *action)
{
    struct call *call = ARENA_NEW(run->pass.arena, struct call);

    *call = (struct call){.run = run, .action = action};
    switch (ACTIONS[action->type].verb) {
    case CREATES:
        start_create(call);
        break;
    case CHANGES:
    case ADOPTS:
    case RELEASES:
        start_patch(call);
        break;
    case DELETES:
        start_delete(call);
        break;
    }
}
