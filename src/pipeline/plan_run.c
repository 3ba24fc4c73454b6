/* Carrying out a plan. The status comes first and alone: what is not written down is not begun, so
 * that whoever comes after us knows of it. A call that fails does not stop the others. */
#include "pipeline/plan_run.h"

#include "pipeline/workflow.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"

#include <stdlib.h>
#include <string.h>

/* One action of the plan under way. */
struct call {
    struct workflow_run *run;
    const struct workflow_action *action;
};

static void go_on(struct workflow_run *run);

static void on_end_task(struct loop_task *task)
{
    struct workflow_run *run = CONTAINER_OF(task, struct workflow_run, end);

    run->done(run->context, run, run->failed);
    workflow_run_free(run);
}

struct workflow_run *workflow_run_new(void)
{
    struct workflow_run *run = mem_zalloc(sizeof(*run));

    run->arena = arena_new();
    run->end.callback = on_end_task;
    return run;
}

struct workflow_run *workflow_run_free(struct workflow_run *run)
{
    if (!run)
        return NULL;
    loop_defer_cancel(run->loop, &run->end);
    for (size_t i = 0; i < run->held.count; i++)
        kube_object_unref(run->held.items[i]);
    vec_release(&run->held);
    if (run->workflow)
        kube_object_unref(run->workflow);
    arena_free(run->arena);
    free(run);
    return NULL;
}

/* A refusal that trying again will not change. */
static bool is_final(const struct err *err)
{
    if (err->code == ERR_FORBIDDEN && strstr(err->message, "exceeded quota"))
        return false;
    return err->code == ERR_INVALID || err->code == ERR_BAD_REQUEST || err->code == ERR_FORBIDDEN ||
           err->code == ERR_NOT_FOUND || err->code == ERR_METHOD || err->code == ERR_TOO_LARGE ||
           err->code == ERR_UNSUPPORTED || err->code == ERR_MEDIA_TYPE;
}

static void end_call(struct call *call)
{
    call->run->under_way--;
    go_on(call->run);
}

/* For the node: an answer that stays, or else another try. */
static void fail_call(struct call *call, const struct err *err)
{
    struct workflow_run *run = call->run;

    if (call->action->node_id && is_final(err))
        workflow_entry_keep_result(run->entry, call->action->node_id, NULL, err->message);
    else
        run->failed = true;
}

static bool is_resource(const struct workflow_action *action)
{
    return action->type >= WORKFLOW_CREATE_RESOURCE && action->type <= WORKFLOW_DELETE_RESOURCE;
}

static void take_answer(struct call *call, const struct json *object)
{
    struct workflow_run *run = call->run;

    if (call->action->type == WORKFLOW_CREATE_POD)
        workflow_entry_await_pod(run->entry, object, loop_now_ms(run->loop));
    else if (call->action->node_id)
        workflow_entry_keep_result(run->entry, call->action->node_id, object, NULL);
}

/* What exists under the name may be ours, made by a call whose answer was lost. */
static bool is_ours(const struct call *call, const struct json *object)
{
    if (call->action->type == WORKFLOW_CREATE_ACCOUNT)
        return true; /* whoever made it */
    if (call->action->type == WORKFLOW_CREATE_RESOURCE)
        return str_eq(kube_meta_annotation(object, WORKFLOW_MADE_BY_ANNOTATION),
                      kube_meta_annotation(call->action->object, WORKFLOW_MADE_BY_ANNOTATION));
    return kube_meta_is_controlled_by(object, call->run->workflow->uid);
}

static const struct kube_resource *resource_of(const struct workflow_action *action)
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
    case WORKFLOW_DELETE_WORKFLOW:
        return &KUBE_WORKFLOWS;
    default:
        return &action->resource;
    }
}

static void on_existing(void *context, struct json *object, const struct err *err)
{
    struct call *call = context;
    struct err taken = ERR_INIT;

    if (err || (!is_ours(call, object) && workflow_is_leftover(object))) {
        call->run->failed = true; /* gone again, about to go, or no answer: try once more */
    } else if (is_ours(call, object)) {
        take_answer(call, object);
    } else {
        (void)err_set(&taken, ERR_INVALID, "%s \"%s\" exists and does not belong to this workflow",
                      resource_of(call->action)->kind, call->action->name);
        fail_call(call, &taken);
    }
    end_call(call);
}

static void on_patched(void *context, struct json *object, const struct err *err)
{
    struct call *call = context;

    if (err)
        fail_call(call, err);
    else
        take_answer(call, object);
    end_call(call);
}

static void on_created(void *context, struct json *object, const struct err *err)
{
    struct call *call = context;
    const struct workflow_action *action = call->action;
    struct kube_client *client = call->run->client;

    if (err && err->code == ERR_EXISTS && action->type == WORKFLOW_APPLY_RESOURCE) {
        kube_patch(client, &action->resource, action->namespace_, action->name, NULL,
                   action->object, on_patched, call);
    } else if (err && err->code == ERR_EXISTS) {
        kube_get(client, resource_of(action), action->namespace_, action->name, on_existing, call);
    } else {
        on_patched(context, object, err);
    }
}

/* What is gone already is as good as deleted. */
static void on_deleted(void *context, struct json *object, const struct err *err)
{
    struct call *call = context;
    bool gone = err && (err->code == ERR_NOT_FOUND || err->code == ERR_CONFLICT);

    if (err && !gone)
        fail_call(call, err);
    else if (is_resource(call->action))
        take_answer(call, call->action->object);
    end_call(call);
}

/* A label that could not be set is tried again with the next change. */
static void on_labelled(void *context, struct json *object, const struct err *err)
{
    end_call(context);
}

static void start_label(struct call *call)
{
    struct workflow_run *run = call->run;
    struct json *patch = json_object(run->arena);

    kube_meta_set_label(run->arena, patch, WORKFLOW_COMPLETED_LABEL, "true");
    kube_patch(run->client, &KUBE_PODS, call->action->namespace_, call->action->name, NULL, patch,
               on_labelled, call);
}

static void start_delete(struct call *call)
{
    const struct workflow_action *action = call->action;
    struct kube_delete_options options = {
        .grace_period_seconds = -1, .propagation = "Background", .uid = action->uid};

    if (action->type == WORKFLOW_DELETE_POD)
        options.propagation = NULL;
    kube_delete(call->run->client, resource_of(action), action->namespace_, action->name, &options,
                on_deleted, call);
}

static void start_action(struct workflow_run *run, const struct workflow_action *action)
{
    struct call *call = ARENA_NEW(run->arena, struct call);

    *call = (struct call){.run = run, .action = action};
    run->under_way++;
    switch (action->type) {
    case WORKFLOW_CREATE_POD:
    case WORKFLOW_CREATE_CLAIM:
    case WORKFLOW_CREATE_ACCOUNT:
    case WORKFLOW_CREATE_RESOURCE:
    case WORKFLOW_APPLY_RESOURCE:
        kube_create(run->client, resource_of(action), action->namespace_, action->object,
                    on_created, call);
        break;
    case WORKFLOW_PATCH_RESOURCE:
        kube_patch(run->client, &action->resource, action->namespace_, action->name, NULL,
                   action->object, on_patched, call);
        break;
    case WORKFLOW_GET_RESOURCE:
        kube_get(run->client, &action->resource, action->namespace_, action->name, on_patched,
                 call);
        break;
    case WORKFLOW_LABEL_POD:
        start_label(call);
        break;
    default:
        start_delete(call);
    }
}

static void tell_events(struct workflow_run *run)
{
    for (size_t i = 0; i < run->plan.event_count; i++) {
        const struct workflow_event *event = &run->plan.events[i];

        kube_event(run->client, run->workflow->json, WORKFLOW_CONTROLLER_NAME,
                   event->warning ? "Warning" : "Normal", event->reason, "%s", event->message);
    }
}

static void go_on(struct workflow_run *run)
{
    while (run->position < run->plan.action_count && run->under_way < run->calls_max)
        start_action(run, &run->plan.actions[run->position++]);
    if (run->under_way == 0)
        loop_defer(run->loop, &run->end);
}

static void on_status_written(void *context, struct json *object, const struct err *err)
{
    struct workflow_run *run = context;

    run->under_way--;
    if (err) {
        /* It changed under our hands: look again. It is gone: nothing to do any more. */
        run->failed = err->code != ERR_NOT_FOUND;
        run->position = run->plan.action_count;
    } else {
        kube_own_writes_wrote(&run->entry->writes, object, loop_now_ms(run->loop));
        tell_events(run);
    }
    go_on(run);
}

static void write_status(struct workflow_run *run)
{
    struct json *object = json_clone(run->arena, run->workflow->json);

    JSON_EACH (label, run->plan.labels) {
        kube_meta_set_label(run->arena, object, label->name, json_text(label));
    }
    json_set(run->arena, object, "status", json_clone(run->arena, run->plan.status));
    run->under_way++;
    kube_update(run->client, &KUBE_WORKFLOWS, run->workflow->namespace_, run->workflow->name,
                object, on_status_written, run);
}

void workflow_run_start(struct workflow_run *run)
{
    if (run->plan.status)
        write_status(run);
    else
        go_on(run);
}
