/* Checks two facts on the server before a plan is carried out, because the watches may not show
 * them; see plan_run.h. The first is that a job that adopts objects still exists and was not
 * replaced. The second is that a pod that vanished while it ran is really gone: a watch with a
 * label selector shows a pod that lost its labels in the same way. plan_run.c starts the checks. */
#include "operator/controller/plan_run.h"

#include "operator/kind/training_job.h"
#include "operator/reconcile/pod_view.h"

#include "base/str.h"
#include "kube/object.h"

/* The check of one vanished pod. */
struct check {
    struct plan_run *run;
    const struct json *pod; /* the pod that vanished */
};

static bool plan_adopts(const struct training_plan *plan)
{
    for (size_t i = 0; i < plan->action_count; i++) {
        if (plan_action_adopts(&plan->actions[i]))
            return true;
    }
    return false;
}

static void on_job_read(void *context, struct json *object, const struct err *err)
{
    struct plan_run *run = context;

    if (err)
        kube_pass_abort(&run->pass, err);
    else if (!str_eq(kube_meta_uid(object), run->pass.workload->uid) ||
             kube_meta_is_deleting(object))
        run->outdated = true;
    kube_pass_answered(&run->pass);
}

static bool is_labelled(const struct plan_run *run, const struct json *pod)
{
    return str_eq(kube_meta_label(pod, TRAINING_OPERATOR_LABEL), run->kind->controller_name) &&
           str_eq(kube_meta_label(pod, TRAINING_NAME_LABEL), run->pass.workload->name);
}

static void on_gone_pod_read(void *context, struct json *object, const struct err *err)
{
    struct check *check = context;
    struct plan_run *run = check->run;

    /* If reading is forbidden, the pod counts as gone, as the watch has shown. */
    if (err && err->code != ERR_NOT_FOUND && err->code != ERR_FORBIDDEN) {
        run->outdated = true; /* the answer is unknown, so the next pass asks again */
    } else if (!err && str_eq(kube_meta_uid(object), kube_meta_uid(check->pod))) {
        run->outdated = true;
        job_entry_found(run->entry, object, !is_labelled(run, object));
    }
    kube_pass_answered(&run->pass);
}

/* Returns whether the pod was running, and not terminating, when it was last seen. */
static bool is_doubtful(const struct plan_run *run, const struct json *json)
{
    struct training_pod pod;

    training_pod_read(run->kind, json, &pod);
    return kube_meta_is_controlled_by(json, run->pass.workload->uid) &&
           pod.phase == TRAINING_POD_RUNNING && pod.deleting_ms == 0;
}

/* Returns whether the plan may depend on vanished pods. A plan that changes neither annotations nor
 * status of the job does not. */
static bool depends_on_gone_pods(const struct plan_run *run)
{
    return run->plan.annotations || run->plan.status;
}

bool plan_check_start_next(struct plan_run *run)
{
    struct kube_pass *pass = &run->pass;

    if (pass->position == 0) {
        pass->position = 1;
        if (plan_adopts(&run->plan)) {
            kube_get(pass->client, run->kind->resource, pass->workload->namespace_,
                     pass->workload->name, on_job_read, run);
            return true;
        }
    }
    while (depends_on_gone_pods(run) && pass->position <= run->gone_count) {
        const struct json *pod = run->gone[pass->position++ - 1];
        struct check *check;

        if (!is_doubtful(run, pod))
            continue;
        check = ARENA_NEW(pass->arena, struct check);
        *check = (struct check){.run = run, .pod = pod};
        kube_get(pass->client, &KUBE_PODS, pass->workload->namespace_, kube_meta_name(pod),
                 on_gone_pod_read, check);
        return true;
    }
    return false;
}
