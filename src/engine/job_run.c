/* Carrying out a plan; see job_run.h. A stage that failed is the last: what follows was decided on
 * the ground that it would not. The controller tries the whole again after its back-off. */
#include "engine/job_run.h"

#include "base/mem.h"
#include "base/str.h"
#include "engine/garbage.h"
#include "kube/object.h"

#include <stdlib.h>

enum { STAGE_STATUS = -1, CALLS_MAX = 16 };

static void advance(struct job_run *run);

static void run_release(struct hub_task *task)
{
    struct job_run *run = CONTAINER_OF(task, struct job_run, task);
    loop_defer_cancel(hub_loop(run->hub), &run->end);
    for (size_t i = 0; i < run->pods.count; i++)
        kube_object_unref(run->pods.items[i]);
    vec_release(&run->pods);
    kube_object_unref(run->job);
    arena_free(run->arena);
    free(run->key);
    free(run);
}

static void on_end(struct loop_task *task)
{
    struct job_run *run = CONTAINER_OF(task, struct job_run, end);
    run->events->done(run->context, run, run->failed);
    hub_task_end(&run->task);
}

struct job_run *job_run_new(struct hub *hub, const char *key, struct kube_object *job)
{
    struct job_run *run = mem_zalloc(sizeof(*run));
    run->hub = hub;
    run->key = mem_strdup(key);
    run->job = kube_object_ref(job);
    run->arena = arena_new();
    run->end.callback = on_end;
    hub_task_begin(hub, &run->task, run_release);
    return run;
}

static void tell(struct job_run *run, const char *type, const char *reason, const char *text,
                 const char *subject)
{
    kube_event(hub_client(run->hub), run->job->json, JOB_COMPONENT, type, reason, "%s: %s", text,
               subject);
}

/* ---- The status ------------------------------------------------------------------------------ */

static void on_status(void *context, struct json *object, const struct err *err)
{
    struct job_run *run = context;
    run->under_way--;
    if (err) {
        /* Changed under our hands, which the informer will say too; or gone, and all is said. */
        run->failed = err->code != ERR_NOT_FOUND;
        run->stage = JOB_ACTION_TYPES;
    } else {
        run->events->wrote(run->context, run, object);
        for (size_t i = 0; i < run->plan.event_count; i++)
            kube_event(hub_client(run->hub), run->job->json, JOB_COMPONENT,
                       run->plan.events[i].warning ? "Warning" : "Normal",
                       run->plan.events[i].reason, "%s", run->plan.events[i].message);
    }
    advance(run);
}

static void write_status(struct job_run *run)
{
    struct json *object = json_clone(run->arena, run->job->json);
    json_set(run->arena, object, "status", run->plan.status);
    run->under_way++;
    kube_update_status(hub_client(run->hub), &KUBE_JOBS, run->job->namespace_, run->job->name,
                       object, on_status, run);
}

/* ---- The actions ----------------------------------------------------------------------------- */

/* The object of a call, for its answer. */
struct call {
    struct job_run *run;
    const struct job_action *action;
};

static void on_answer(void *context, struct json *object, const struct err *err)
{
    struct call *call = context;
    struct job_run *run = call->run;
    enum job_action_type type = call->action->type;
    /* Gone, or changed meanwhile: the informer says so, and the next pass looks again. */
    bool settled =
        err && type != JOB_CREATE_POD && (err->code == ERR_NOT_FOUND || err->code == ERR_CONFLICT);
    if (err && !settled)
        run->failed = true;
    if (type == JOB_CREATE_POD && err) {
        tell(run, "Warning", "FailedCreate", "Error creating", err->message);
    } else if (type == JOB_CREATE_POD) {
        run->events->wrote(run->context, run, object);
        tell(run, "Normal", "SuccessfulCreate", "Created pod", kube_meta_name(object));
    } else if (type == JOB_DELETE_POD && !err) {
        tell(run, "Normal", "SuccessfulDelete", "Deleted pod",
             kube_meta_name(call->action->object));
    }
    run->under_way--;
    advance(run);
}

static void remove_object(struct job_run *run, const struct kube_resource *resource,
                          struct call *call)
{
    const struct json *object = call->action->object;
    struct kube_delete_options options = {
        .grace_period_seconds = -1,
        .propagation = "Background",
        .uid = kube_meta_uid(object),
    };
    kube_delete(hub_client(run->hub), resource, kube_meta_namespace(object), kube_meta_name(object),
                &options, on_answer, call);
}

static void start_action(struct job_run *run, const struct job_action *action)
{
    struct kube_client *client = hub_client(run->hub);
    struct call *call = ARENA_NEW(run->arena, struct call);
    const struct json *object = action->object;
    struct json *patch;
    *call = (struct call){.run = run, .action = action};
    run->under_way++;
    switch (action->type) {
    case JOB_RELEASE_POD:
        kube_patch(client, &KUBE_PODS, run->job->namespace_, kube_meta_name(object), NULL,
                   garbage_finalizer_patch(run->arena, object, JOB_FINALIZER), on_answer, call);
        break;
    case JOB_MARK_POD:
        /* Only as it was seen: one that has failed since did so by itself, and counts. */
        patch = json_object(run->arena);
        json_set_string(run->arena, json_ensure_object(run->arena, patch, "metadata"),
                        "resourceVersion", kube_meta_resource_version(object));
        kube_meta_set_annotation(run->arena, patch, JOB_STOPPED_ANNOTATION, "true");
        kube_patch(client, &KUBE_PODS, run->job->namespace_, kube_meta_name(object), NULL, patch,
                   on_answer, call);
        break;
    case JOB_DELETE_POD:
        remove_object(run, &KUBE_PODS, call);
        break;
    case JOB_CREATE_POD:
        kube_create(client, &KUBE_PODS, run->job->namespace_, object, on_answer, call);
        break;
    case JOB_DELETE_JOB:
        remove_object(run, &KUBE_JOBS, call);
        break;
    case JOB_ACTION_TYPES:
        break;
    }
}

/* Keep calls of the stage under way; false when all have been answered. */
static bool keep_working(struct job_run *run)
{
    if (run->stage == STAGE_STATUS) {
        if (run->plan.status && run->position++ == 0)
            write_status(run);
        return run->under_way > 0;
    }
    while (run->position < run->plan.action_count && run->under_way < CALLS_MAX && !run->failed) {
        const struct job_action *action = &run->plan.actions[run->position++];
        if ((int)action->type == run->stage)
            start_action(run, action);
    }
    return run->under_way > 0;
}

static void advance(struct job_run *run)
{
    while (run->stage < JOB_ACTION_TYPES) {
        if (keep_working(run))
            return;
        run->stage = run->failed ? JOB_ACTION_TYPES : run->stage + 1;
        run->position = 0;
    }
    if (run->under_way == 0)
        loop_defer(hub_loop(run->hub), &run->end);
}

void job_run_start(struct job_run *run)
{
    run->stage = STAGE_STATUS;
    advance(run);
}
