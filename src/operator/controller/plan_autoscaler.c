/* Carries out the autoscaler part of a plan, as one stage; see plan_run.h. Autoscalers are not
 * watched. The last written state is kept in the job's entry, so a call is needed only when a job
 * is first seen, when its bounds or metrics change, when it ends, and after a call that failed. A
 * rejection is reported once, and the job continues without an autoscaler. Servers before
 * Kubernetes 1.23 have an older version of the object. */
#include "operator/controller/plan_run.h"
#include "operator/reconcile/autoscaler.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"

#include <stdlib.h>
#include <string.h>

#define GONE "none"

static const struct kube_resource VERSIONS[] = {
    {"autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", true},
    {"autoscaling", "v2beta2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", true},
};

static const struct kube_resource *autoscaler_resource(const struct plan_run *run)
{
    return &VERSIONS[run->autoscaler_version];
}

/* Returns the wanted state as text. The text contains the job's uid, because an earlier job may
 * have had the same name. */
static char *wanted_text(struct plan_run *run)
{
    const struct json *wanted = run->plan.autoscaler;

    return arena_printf(run->pass.arena, "%s %s", run->pass.workload->uid,
                        wanted ? json_to_string(run->pass.arena, wanted) : GONE);
}

bool plan_run_needs_autoscaler(struct plan_run *run)
{
    const char *written = run->entry->autoscaler;
    bool has_autoscaler = written && strchr(written, '{'); /* JSON, not GONE */

    if (!run->plan.autoscaler && !run->plan.delete_autoscaler && !has_autoscaler)
        return false;
    return !str_eq(written, wanted_text(run));
}

/* Ends the stage. `done` means that the wanted state needs no further call; otherwise the pass is
 * repeated. */
static void autoscaler_end(struct plan_run *run, bool done)
{
    if (done) {
        free(run->entry->autoscaler);
        run->entry->autoscaler = mem_strdup(wanted_text(run));
    } else {
        run->pass.failed = true;
    }
    kube_pass_answered(&run->pass);
}

static void autoscaler_report(struct plan_run *run, bool warning, const char *reason,
                              const char *message)
{
    if (job_entry_record_event(run->entry, reason, message))
        kube_pass_event(&run->pass, warning, reason, "%s", message);
}

/* Ends the stage after an error. The next pass tries again if the server did not answer, if another
 * client has changed the autoscaler, or if the call is forbidden. A forbidden call may succeed
 * later: the server may not know a new definition everywhere yet, and a role may be added. */
static void autoscaler_end_failed(struct plan_run *run, const struct err *err)
{
    bool silent = err->code == ERR_UNAVAILABLE || err->code == ERR_TIMEOUT ||
                  err->code == ERR_CANCELED || err->code == ERR_CONFLICT;
    bool again = silent || err->code == ERR_FORBIDDEN;

    if (!silent)
        autoscaler_report(run, true, "FailedAutoscaler",
                          arena_printf(run->pass.arena,
                                       "spec.elasticPolicy.metrics: the job has no autoscaler: %s",
                                       err->message));
    autoscaler_end(run, !again);
}

static void autoscaler_end_done(struct plan_run *run, const char *reason, const char *verb)
{
    kube_pass_event(&run->pass, false, reason, "%s HorizontalPodAutoscaler: %s", verb,
                    run->pass.workload->name);
    autoscaler_end(run, true);
}

/* ---- Creating and updating ------------------------------------------------------------------- */

static void autoscaler_create(struct plan_run *run);

static void on_autoscaler_changed(void *context, struct json *object, const struct err *err)
{
    struct plan_run *run = context;

    if (err && err->code == ERR_NOT_FOUND)
        autoscaler_end(run, false);
    else if (err)
        autoscaler_end_failed(run, err);
    else
        autoscaler_end_done(run, "SuccessfulUpdateAutoscaler", "Updated");
}

static void autoscaler_change(struct plan_run *run)
{
    struct json *patch = json_object(run->pass.arena);

    json_set(run->pass.arena, patch, "spec",
             json_clone(run->pass.arena, json_get(run->plan.autoscaler, "spec")));
    kube_patch(run->pass.client, autoscaler_resource(run), run->pass.workload->namespace_,
               run->pass.workload->name, NULL, patch, on_autoscaler_changed, run);
}

static void on_existing_autoscaler(void *context, struct json *object, const struct err *err)
{
    struct plan_run *run = context;

    if (err && err->code == ERR_NOT_FOUND) {
        autoscaler_end(run, false); /* it is gone already, and the next pass creates it */
    } else if (err) {
        autoscaler_end_failed(run, err);
    } else if (!kube_meta_is_controlled_by(object, run->pass.workload->uid)) {
        autoscaler_report(
            run, true, "FailedAutoscaler",
            arena_printf(
                run->pass.arena,
                "spec.elasticPolicy.metrics: the job has no autoscaler: HorizontalPodAutoscaler "
                "\"%s\" exists and does not belong to this job" TRAINING_NAME_TAKEN,
                run->pass.workload->name));
        /* The autoscaler may belong to an earlier job of the same name and be terminating. */
        autoscaler_end(run, !kube_meta_is_deleting(object) && !kube_meta_controller(object));
    } else if (training_autoscaler_is_same(run->plan.autoscaler, object)) {
        autoscaler_end(run, true);
    } else {
        autoscaler_change(run);
    }
}

static void on_autoscaler_created(void *context, struct json *object, const struct err *err)
{
    struct plan_run *run = context;

    if (!err) {
        autoscaler_end_done(run, "SuccessfulCreateAutoscaler", "Created");
    } else if (err->code == ERR_EXISTS) {
        kube_get(run->pass.client, autoscaler_resource(run), run->pass.workload->namespace_,
                 run->pass.workload->name, on_existing_autoscaler, run);
    } else if (err->code != ERR_NOT_FOUND) {
        autoscaler_end_failed(run, err);
    } else if (run->autoscaler_version + 1 < ARRAY_SIZE(VERSIONS)) {
        run->autoscaler_version++;
        autoscaler_create(run);
    } else {
        autoscaler_report(
            run, true, "AutoscalersMissing",
            arena_printf(run->pass.arena,
                         "spec.elasticPolicy.metrics: this server has no HorizontalPodAutoscalers, "
                         "so the job is not scaled automatically; use "
                         "'kubectl scale %s %s --replicas=N'",
                         run->kind->row->singular, run->pass.workload->name));
        autoscaler_end(run, true);
    }
}

static void autoscaler_create(struct plan_run *run)
{
    struct json *object = json_clone(run->pass.arena, run->plan.autoscaler);

    json_set_string(run->pass.arena, object, "apiVersion",
                    kube_resource_api_version(run->pass.arena, autoscaler_resource(run)));
    kube_create(run->pass.client, autoscaler_resource(run), run->pass.workload->namespace_, object,
                on_autoscaler_created, run);
}

/* ---- Deleting -------------------------------------------------------------------------------- */

static void on_autoscaler_deleted(void *context, struct json *object, const struct err *err)
{
    struct plan_run *run = context;

    if (err && err->code == ERR_NOT_FOUND)
        autoscaler_end(run, true);
    else if (err)
        autoscaler_end_failed(run, err);
    else
        autoscaler_end_done(run, "SuccessfulDeleteAutoscaler", "Deleted");
}

static void autoscaler_find(struct plan_run *run);

static void on_autoscaler_found(void *context, struct json *object, const struct err *err)
{
    struct plan_run *run = context;
    struct kube_delete_options options = {.grace_period_seconds = -1};

    if (err && err->code == ERR_NOT_FOUND && run->autoscaler_version + 1 < ARRAY_SIZE(VERSIONS)) {
        run->autoscaler_version++;
        autoscaler_find(run);
    } else if (err && err->code != ERR_NOT_FOUND) {
        autoscaler_end_failed(run, err);
    } else if (!err && kube_meta_is_controlled_by(object, run->pass.workload->uid)) {
        options.uid = arena_strdup(run->pass.arena, kube_meta_uid(object));
        kube_delete(run->pass.client, autoscaler_resource(run), run->pass.workload->namespace_,
                    run->pass.workload->name, &options, on_autoscaler_deleted, run);
    } else {
        autoscaler_end(run, true);
    }
}

static void autoscaler_find(struct plan_run *run)
{
    kube_get(run->pass.client, autoscaler_resource(run), run->pass.workload->namespace_,
             run->pass.workload->name, on_autoscaler_found, run);
}

void plan_run_start_autoscaler(struct plan_run *run)
{
    run->autoscaler_version = 0;
    if (run->plan.autoscaler)
        autoscaler_create(run);
    else
        autoscaler_find(run);
}
