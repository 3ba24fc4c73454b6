/* Carries out a plan. The status is written first, before any other call: a step begins only after
 * it is recorded, so that another controller process finds it in the status. If the status cannot
 * be written, no action is carried out. A failed action does not stop the others. */
#include "pipeline/controller/plan_run.h"

#include "pipeline/spec/workflow.h"
#include "pipeline/spec/workflow_kind.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"

#include <stdlib.h>
#include <string.h>

/* An action whose call is in flight. */
struct call {
    struct workflow_plan_run *run;
    const struct workflow_action *action;
};

enum stage { STAGE_STATUS, STAGE_ACTIONS, STAGES };

/* Returns true if the server would reject a retry, too. A quota may have room later. */
static bool is_permanent(const struct err *err)
{
    if (err->code == ERR_FORBIDDEN && strstr(err->message, "exceeded quota"))
        return false;
    return err->code == ERR_INVALID || err->code == ERR_BAD_REQUEST || err->code == ERR_FORBIDDEN ||
           err->code == ERR_NOT_FOUND || err->code == ERR_METHOD || err->code == ERR_TOO_LARGE ||
           err->code == ERR_UNSUPPORTED || err->code == ERR_MEDIA_TYPE;
}

/* Handles a failed call: if a result is kept for the action, a permanent error becomes this result;
 * after any other failure the pass is repeated. */
static void fail_call(struct call *call, const struct err *err)
{
    struct workflow_plan_run *run = call->run;

    if (call->action->node_id && is_permanent(err))
        workflow_entry_keep_result(run->entry, call->action->node_id, NULL, err->message);
    else
        run->pass.failed = true;
}

static bool is_resource(const struct workflow_action *action)
{
    return action->type >= WORKFLOW_CREATE_RESOURCE && action->type <= WORKFLOW_DELETE_RESOURCE;
}

/* Keeps the object that the server returned as the result of the action. For a new pod no result is
 * kept: the next pass waits until the informer shows the pod. */
static void take_answer(struct call *call, const struct json *object)
{
    struct workflow_plan_run *run = call->run;

    if (call->action->type == WORKFLOW_CREATE_POD)
        workflow_entry_await_pod(run->entry, object, loop_now_ms(run->pass.loop));
    else if (call->action->node_id)
        workflow_entry_keep_result(run->entry, call->action->node_id, object, NULL);
}

/* Returns true if an existing object with the name of the action's object counts as created by this
 * action. The answer to an earlier call for this action may have been lost. */
static bool call_created_object(const struct call *call, const struct json *object)
{
    if (call->action->type == WORKFLOW_CREATE_ACCOUNT ||
        call->action->type == WORKFLOW_CREATE_BINDING)
        return true; /* regardless of its creator */
    if (call->action->type == WORKFLOW_CREATE_RESOURCE)
        return str_eq(kube_meta_annotation(object, WORKFLOW_MADE_BY_ANNOTATION),
                      kube_meta_annotation(call->action->object, WORKFLOW_MADE_BY_ANNOTATION));
    return kube_meta_is_controlled_by(object, call->run->pass.workload->uid);
}

static const struct kube_resource *workflow_action_resource(const struct workflow_action *action)
{
    switch (action->type) {
    case WORKFLOW_CREATE_POD:
    case WORKFLOW_DELETE_POD:
    case WORKFLOW_LABEL_POD:
        return &KUBE_PODS;
    case WORKFLOW_CREATE_CLAIM:
    case WORKFLOW_DELETE_CLAIM:
        return &KUBE_PVCS;
    case WORKFLOW_CREATE_ACCOUNT:
        return &KUBE_SERVICEACCOUNTS;
    case WORKFLOW_CREATE_BINDING:
        return &KUBE_ROLEBINDINGS;
    case WORKFLOW_DELETE_WORKFLOW:
        return &WORKFLOWS_RESOURCE;
    default:
        return &action->resource;
    }
}

static void on_existing(void *context, struct json *object, const struct err *err)
{
    struct call *call = context;
    struct err taken = ERR_INIT;

    if (err || (!call_created_object(call, object) && workflow_object_is_obsolete(object))) {
        /* The object is gone or will be deleted, or the server did not answer. */
        call->run->pass.failed = true;
    } else if (call_created_object(call, object)) {
        take_answer(call, object);
    } else {
        (void)err_set(&taken, ERR_INVALID, "%s \"%s\" exists and does not belong to this workflow",
                      workflow_action_resource(call->action)->kind, call->action->name);
        fail_call(call, &taken);
    }
    kube_pass_answered(&call->run->pass);
}

static void on_patched(void *context, struct json *object, const struct err *err)
{
    struct call *call = context;

    if (err)
        fail_call(call, err);
    else
        take_answer(call, object);
    kube_pass_answered(&call->run->pass);
}

static void on_workflow_part_created(void *context, struct json *object, const struct err *err)
{
    struct call *call = context;
    const struct workflow_action *action = call->action;
    struct kube_client *client = call->run->pass.client;

    if (err && err->code == ERR_EXISTS && action->type == WORKFLOW_APPLY_RESOURCE) {
        kube_patch(client, &action->resource, action->namespace_, action->name, NULL,
                   action->object, on_patched, call);
    } else if (err && err->code == ERR_EXISTS) {
        kube_get(client, workflow_action_resource(action), action->namespace_, action->name,
                 on_existing, call);
    } else {
        on_patched(context, object, err);
    }
}

/* An object that is already gone, or was replaced by one with another uid, counts as deleted. */
static void on_workflow_part_deleted(void *context, struct json *object, const struct err *err)
{
    struct call *call = context;
    bool gone = err && (err->code == ERR_NOT_FOUND || err->code == ERR_CONFLICT);

    if (err && !gone)
        fail_call(call, err);
    else if (is_resource(call->action))
        take_answer(call, call->action->object);
    kube_pass_answered(&call->run->pass);
}

/* If the call fails, the label is set again at the next change. */
static void on_workflow_part_labelled(void *context, struct json *object, const struct err *err)
{
    struct call *call = context;

    kube_pass_answered(&call->run->pass);
}

static void start_label(struct call *call)
{
    struct workflow_plan_run *run = call->run;
    struct json *patch = json_object(run->pass.arena);

    kube_meta_set_label(run->pass.arena, patch, WORKFLOW_COMPLETED_LABEL, "true");
    kube_patch(run->pass.client, &KUBE_PODS, call->action->namespace_, call->action->name, NULL,
               patch, on_workflow_part_labelled, call);
}

static void start_delete(struct call *call)
{
    const struct workflow_action *action = call->action;
    struct kube_delete_options options = {
        .grace_period_seconds = -1, .propagation = "Background", .uid = action->uid};

    if (action->type == WORKFLOW_DELETE_POD)
        options.propagation = NULL;
    kube_delete(call->run->pass.client, workflow_action_resource(action), action->namespace_,
                action->name, &options, on_workflow_part_deleted, call);
}

static void workflow_action_start(struct workflow_plan_run *run,
                                  const struct workflow_action *action)
{
    struct call *call = ARENA_NEW(run->pass.arena, struct call);

    *call = (struct call){.run = run, .action = action};
    switch (action->type) {
    case WORKFLOW_CREATE_POD:
    case WORKFLOW_CREATE_CLAIM:
    case WORKFLOW_CREATE_ACCOUNT:
    case WORKFLOW_CREATE_BINDING:
    case WORKFLOW_CREATE_RESOURCE:
    case WORKFLOW_APPLY_RESOURCE:
        kube_create(run->pass.client, workflow_action_resource(action), action->namespace_,
                    action->object, on_workflow_part_created, call);
        break;
    case WORKFLOW_PATCH_RESOURCE:
        kube_patch(run->pass.client, &action->resource, action->namespace_, action->name, NULL,
                   action->object, on_patched, call);
        break;
    case WORKFLOW_GET_RESOURCE:
        kube_get(run->pass.client, &action->resource, action->namespace_, action->name, on_patched,
                 call);
        break;
    case WORKFLOW_LABEL_POD:
        start_label(call);
        break;
    default:
        start_delete(call);
    }
}

static void record_events(struct workflow_plan_run *run)
{
    for (size_t i = 0; i < run->plan.event_count; i++) {
        const struct workflow_event *event = &run->plan.events[i];

        kube_pass_event(&run->pass, event->warning, event->reason, "%s", event->message);
    }
}

static void on_status_written(void *context, struct json *object, const struct err *err)
{
    struct workflow_plan_run *run = context;

    if (err) {
        kube_pass_abort(&run->pass, err);
    } else {
        kube_pass_add_write(&run->pass, object);
        record_events(run);
    }
    kube_pass_answered(&run->pass);
}

static void workflow_write_status(struct workflow_plan_run *run)
{
    struct json *object = json_clone(run->pass.arena, run->pass.workload->json);

    JSON_EACH (label, run->plan.labels) {
        kube_meta_set_label(run->pass.arena, object, label->name, json_text(label));
    }
    json_set(run->pass.arena, object, "status", json_clone(run->pass.arena, run->plan.status));
    kube_update(run->pass.client, &WORKFLOWS_RESOURCE, run->pass.workload->namespace_,
                run->pass.workload->name, object, on_status_written, run);
}

static bool workflow_run_start_next(struct kube_pass *pass)
{
    struct workflow_plan_run *run = CONTAINER_OF(pass, struct workflow_plan_run, pass);
    bool is_status = pass->stage == STAGE_STATUS;

    if (pass->position >= (is_status ? run->plan.status != NULL : run->plan.action_count))
        return false;
    if (is_status)
        workflow_write_status(run);
    else
        workflow_action_start(run, &run->plan.actions[pass->position]);
    pass->position++;
    return true;
}

const struct kube_pass_stages WORKFLOW_PLAN_RUN_STAGES = {STAGES, workflow_run_start_next, NULL};
