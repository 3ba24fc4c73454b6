/* Asks the server two questions before a plan is carried out, because no watch answers them. The
 * first is whether the job that adopts objects still exists and was not replaced. The second is
 * whether a pod that vanished while it ran is really gone: a watch with a label selector shows a
 * pod that lost its labels in the same way. plan_run.c starts the questions. */
#include "operator/controller/plan_run.h"

#include "operator/kind/training_job.h"
#include "operator/reconcile/pod_view.h"

#include "base/str.h"
#include "kube/object.h"

struct question {
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

static void on_job(void *context, struct json *object, const struct err *err)
{
    struct plan_run *run = context;

    if (err)
        kube_pass_abort(&run->pass, err);
    else if (!str_eq(kube_meta_uid(object), run->pass.workload->uid) ||
             kube_meta_is_deleting(object))
        run->overtaken = true;
    kube_pass_answered(&run->pass);
}

static bool is_labelled(const struct plan_run *run, const struct json *pod)
{
    return str_eq(kube_meta_label(pod, TRAINING_OPERATOR_LABEL), run->kind->controller_name) &&
           str_eq(kube_meta_label(pod, TRAINING_NAME_LABEL), run->pass.workload->name);
}

static void on_gone_pod_read(void *context, struct json *object, const struct err *err)
{
    struct question *question = context;
    struct plan_run *run = question->run;

    /* If reading is forbidden, the pod counts as gone, as the watch has shown. */
    if (err && err->code != ERR_NOT_FOUND && err->code != ERR_FORBIDDEN) {
        run->overtaken = true; /* the answer is unknown, so the next pass asks again */
    } else if (!err && str_eq(kube_meta_uid(object), kube_meta_uid(question->pod))) {
        run->overtaken = true;
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

/* Returns whether the plan depends on vanished pods. It does not if it leaves the job unchanged. */
static bool asks_of_pods(const struct plan_run *run)
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
                     pass->workload->name, on_job, run);
            return true;
        }
    }
    while (asks_of_pods(run) && pass->position <= run->gone_count) {
        const struct json *pod = run->gone[pass->position++ - 1];
        struct question *question;

        if (!is_doubtful(run, pod))
            continue;
        question = ARENA_NEW(pass->arena, struct question);
        *question = (struct question){.run = run, .pod = pod};
        kube_get(pass->client, &KUBE_PODS, pass->workload->namespace_, kube_meta_name(pod),
                 on_gone_pod_read, question);
        return true;
    }
    return false;
}
