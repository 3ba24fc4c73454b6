/* Carries out the plan for a job; see run.h. After a failed call no further action starts, because
 * the following actions depend on its success. The controller repeats the pass after a backoff. */
#include "engine/controllers/job/run.h"

#include "base/mem.h"
#include "base/str.h"
#include "engine/controllers/garbage.h"
#include "kube/object.h"

/* The first stage writes the status. Then each type of action has a stage, in the order of the
 * enum. */
enum { STAGE_STATUS, STAGE_ACTIONS, STAGES = STAGE_ACTIONS + JOB_ACTION_TYPES };

/* ---- The status ------------------------------------------------------------------------------ */

static void on_job_run_status(void *context, struct json *object, const struct err *err)
{
    struct job_run *run = context;
    struct kube_pass *pass = &run->run.pass;
    if (err) {
        kube_pass_abort(pass, err);
    } else {
        kube_pass_add_write(pass, object);
        for (size_t i = 0; i < run->plan.event_count; i++)
            kube_pass_event(pass, run->plan.events[i].warning, run->plan.events[i].reason, "%s",
                            run->plan.events[i].message);
    }
    kube_pass_answered(pass);
}

static void job_run_write_status(struct job_run *run)
{
    struct kube_pass *pass = &run->run.pass;
    struct json *object = json_clone(pass->arena, pass->workload->json);
    json_set(pass->arena, object, "status", run->plan.status);
    kube_update_status(pass->client, &KUBE_JOBS, pass->workload->namespace_, pass->workload->name,
                       object, on_job_run_status, run);
}

/* ---- The actions ----------------------------------------------------------------------------- */

/* The context of a call. */
struct call {
    struct job_run *run;
    const struct job_action *action;
};

/* Lets the next pass wait for the created pod, unless the informer shows it already. */
static void await_pod(struct job_run *run, const struct json *pod)
{
    const struct kube_object *seen = kube_informer_get(
        hub_informer(run->run.hub, "pods"), kube_meta_namespace(pod), kube_meta_name(pod));
    if (!seen || !str_eq(seen->uid, kube_meta_uid(pod)))
        workloads_run_wrote(&run->run, kube_meta_uid(pod));
}

static void on_job_run_answer(void *context, struct json *object, const struct err *err)
{
    struct call *call = context;
    struct job_run *run = call->run;
    struct kube_pass *pass = &run->run.pass;
    enum job_action_type type = call->action->type;
    /* The object is gone or has changed: the informer will show that, and the next pass decides
     * again. */
    bool is_ignored =
        err && type != JOB_CREATE_POD && (err->code == ERR_NOT_FOUND || err->code == ERR_CONFLICT);
    if (err && !is_ignored)
        pass->failed = true;
    if (type == JOB_CREATE_POD && err) {
        kube_pass_event(pass, true, "FailedCreate", "Error creating: %s", err->message);
    } else if (type == JOB_CREATE_POD) {
        await_pod(run, object);
        kube_pass_event(pass, false, "SuccessfulCreate", "Created pod: %s", kube_meta_name(object));
    } else if (type == JOB_DELETE_POD && !err) {
        kube_pass_event(pass, false, "SuccessfulDelete", "Deleted pod: %s",
                        kube_meta_name(call->action->object));
    }
    kube_pass_answered(pass);
}

static void job_run_remove_object(struct job_run *run, const struct kube_resource *resource,
                                  struct call *call)
{
    const struct json *object = call->action->object;
    struct kube_delete_options options = {
        .grace_period_seconds = -1,
        .propagation = "Background",
        .uid = kube_meta_uid(object),
    };
    kube_delete(run->run.pass.client, resource, kube_meta_namespace(object), kube_meta_name(object),
                &options, on_job_run_answer, call);
}

static void job_run_start_action(struct job_run *run, const struct job_action *action)
{
    struct kube_pass *pass = &run->run.pass;
    struct kube_client *client = pass->client;
    struct call *call = ARENA_NEW(pass->arena, struct call);
    const struct json *object = action->object;
    struct json *patch;
    *call = (struct call){.run = run, .action = action};
    switch (action->type) {
    case JOB_RELEASE_POD:
        kube_patch(client, &KUBE_PODS, pass->workload->namespace_, kube_meta_name(object), NULL,
                   garbage_finalizer_patch(pass->arena, object, JOB_FINALIZER), on_job_run_answer,
                   call);
        break;
    case JOB_MARK_POD:
        /* The patch contains the resourceVersion, so that it fails if the pod has ended meanwhile.
         * Such a pod ended by itself, and its failure counts. */
        patch = json_object(pass->arena);
        json_set_string(pass->arena, json_ensure_object(pass->arena, patch, "metadata"),
                        "resourceVersion", kube_meta_resource_version(object));
        kube_meta_set_annotation(pass->arena, patch, JOB_STOPPED_ANNOTATION, "true");
        kube_patch(client, &KUBE_PODS, pass->workload->namespace_, kube_meta_name(object), NULL,
                   patch, on_job_run_answer, call);
        break;
    case JOB_DELETE_POD:
        job_run_remove_object(run, &KUBE_PODS, call);
        break;
    case JOB_CREATE_POD:
        kube_create(client, &KUBE_PODS, pass->workload->namespace_, object, on_job_run_answer,
                    call);
        break;
    case JOB_DELETE_JOB:
        job_run_remove_object(run, &KUBE_JOBS, call);
        break;
    case JOB_ACTION_TYPES:
        break;
    }
}

static bool job_run_start_next(struct kube_pass *pass)
{
    struct job_run *run = CONTAINER_OF(pass, struct job_run, run.pass);
    if (pass->stage == STAGE_STATUS) {
        if (!run->plan.status || pass->position++ > 0)
            return false;
        job_run_write_status(run);
        return true;
    }
    while (pass->position < run->plan.action_count && !pass->failed) {
        const struct job_action *action = &run->plan.actions[pass->position++];
        if (STAGE_ACTIONS + (int)action->type == pass->stage) {
            job_run_start_action(run, action);
            return true;
        }
    }
    return false;
}

static int job_run_after(struct kube_pass *pass)
{
    return pass->failed ? STAGES : pass->stage + 1;
}

const struct kube_pass_stages JOB_RUN_STAGES = {STAGES, job_run_start_next, job_run_after};
