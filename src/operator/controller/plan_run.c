/* Carries out a plan stage by stage; see plan_run.h. A stage starts when the last call of the
 * previous stage has been answered. The controller runs one plan per job at a time. A rejected call
 * does not stop its stage, because other calls may succeed. But actions that depend on the rejected
 * call are left out: if the annotations with the counts are rejected, the pass ends, and if a
 * PodGroup or service is rejected, no pod is created. A call without an answer ends the pass,
 * because the server is unreachable. */
#include "operator/controller/plan_run.h"

#include "operator/controller/training_metrics.h"

#include "base/mem.h"
#include "kube/object.h"

/* Ends the pass because the job itself could not be written. The server's reason is reported as an
 * event, because the job would otherwise wait without an explanation. If the job is gone or was
 * changed, nothing is reported. */
static void plan_run_abort(struct plan_run *run, const struct err *err)
{
    if (kube_pass_has_answer(err) && err->code != ERR_NOT_FOUND && err->code != ERR_CONFLICT &&
        job_entry_record_event(run->entry, "FailedUpdateJob", err->message))
        kube_pass_event(&run->pass, true, "FailedUpdateJob", "Error updating: %s", err->message);
    kube_pass_abort(&run->pass, err);
}

static void on_annotations_written(void *context, struct json *object, const struct err *err)
{
    struct plan_run *run = context;

    if (err) {
        plan_run_abort(run, err);
    } else {
        run->resource_version = arena_strdup(run->pass.arena, kube_meta_resource_version(object));
        training_metrics_count_restarts(run->metrics, run->pass.workload->json,
                                        run->plan.annotations);
        kube_pass_add_write(&run->pass, object);
    }
    kube_pass_answered(&run->pass);
}

static void start_annotations(struct plan_run *run)
{
    struct json *patch = json_object(run->pass.arena);
    struct json *metadata = json_ensure_object(run->pass.arena, patch, "metadata");

    /* The write is conditional on the version that was read, so that it never overwrites another
     * count. */
    json_set_string(run->pass.arena, metadata, "resourceVersion",
                    kube_meta_resource_version(run->pass.workload->json));
    json_set(run->pass.arena, metadata, "annotations", run->plan.annotations);
    kube_patch(run->pass.client, run->kind->resource, run->pass.workload->namespace_,
               run->pass.workload->name, NULL, patch, on_annotations_written, run);
}

static void report_events(struct plan_run *run)
{
    for (size_t i = 0; i < run->plan.event_count; i++) {
        const struct training_event *event = &run->plan.events[i];

        if (event->once &&
            !job_entry_record_pod_event(run->entry, event->pod_uid, event->reason, event->message))
            continue;
        kube_pass_event(&run->pass, event->warning, event->reason, "%s", event->message);
    }
}

static void on_status_written(void *context, struct json *object, const struct err *err)
{
    struct plan_run *run = context;

    if (err) {
        plan_run_abort(run, err);
    } else {
        training_metrics_count_status(run->metrics, run->pass.workload->json, run->plan.status);
        kube_pass_add_write(&run->pass, object);
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

/* Starts the next call of a stage that has at most one call, if the call is needed and was not
 * started before. Returns whether it started the call. */
static bool start_single_call(struct plan_run *run, bool needed, void (*start)(struct plan_run *))
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

        if ((int)plan_action_stage(action) != run->pass.stage ||
            (run->creates_nothing && plan_action_creates(action)))
            continue;
        plan_action_start(run, action);
        return true;
    }
    return false;
}

static bool plan_run_start_next(struct kube_pass *pass)
{
    struct plan_run *run = CONTAINER_OF(pass, struct plan_run, pass);

    switch (pass->stage) {
    case PLAN_CHECK:
        return plan_check_start_next(run);
    case PLAN_ANNOTATIONS:
        return start_single_call(run, run->plan.annotations != NULL, start_annotations);
    case PLAN_AUTOSCALER:
        return start_single_call(run, plan_run_needs_autoscaler(run), plan_run_start_autoscaler);
    case PLAN_STATUS:
        return start_single_call(run, run->plan.status != NULL, start_status);
    default:
        return start_next_action(run);
    }
}

static int plan_run_end_stage(struct kube_pass *pass)
{
    struct plan_run *run = CONTAINER_OF(pass, struct plan_run, pass);

    if (pass->stage == PLAN_CHECK && run->outdated) {
        pass->failed = true;
        return PLAN_STAGES;
    }
    if (pass->stage == PLAN_STATUS)
        report_events(run);
    /* Only the creation of objects depends on these stages. Objects that must be deleted are still
     * deleted. */
    if (pass->failed && (pass->stage == PLAN_GROUP || pass->stage == PLAN_SERVICES))
        run->creates_nothing = true;
    return pass->stage + 1;
}

const struct kube_pass_stages PLAN_RUN_STAGES = {PLAN_STAGES, plan_run_start_next,
                                                 plan_run_end_stage};
