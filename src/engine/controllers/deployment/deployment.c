/* Decides one pass over a deployment; implements deployment_reconcile() of deployment.h. */
#include "engine/controllers/deployment/internal.h"

#include "base/str.h"
#include "kube/object.h"

/* Returns whether pods of old sets run or are about to run. */
static bool old_pods_run(const struct deployment_pass *pass)
{
    for (size_t i = 0; i < pass->count; i++)
        if (!pass->sets[i].is_new && pass->sets[i].total > 0)
            return true;
    for (size_t i = 0; i < pass->observed->pod_count; i++) {
        const struct json *pod = pass->observed->pods[i];
        const char *phase = json_get_string(json_get(pod, "status"), "phase", "");
        bool of_new = pass->new_set && kube_meta_is_controlled_by(pod, pass->new_set->uid);
        if (!of_new && !str_eq(phase, "Succeeded") && !str_eq(phase, "Failed"))
            return true;
    }
    return false;
}

static void make_new_set(struct deployment_pass *pass, struct json *status)
{
    deployment_plan_new_set(pass);
    const struct deployment_plan *plan = pass->plan;
    const struct json *set = plan->actions[plan->action_count - 1].set;
    deployment_note_created(pass, status, kube_meta_name(set));
}

/* Plans the sizes of this step, or the creation of the new set. Returns true if the new set exists,
 * no size changes and, with the strategy Recreate, no old pod runs. */
static bool roll_out(struct deployment_pass *pass, struct json *status)
{
    if (!pass->rolling && deployment_size_recreate(pass))
        return false;
    if (!pass->rolling && old_pods_run(pass))
        return false;
    if (!pass->new_set) {
        make_new_set(pass, status);
        return false;
    }
    if (pass->rolling)
        return !deployment_size_rolling(pass);
    pass->new_set->wanted = pass->replicas;
    return pass->new_set->wanted == pass->new_set->size;
}

static void deployment_advance(struct deployment_pass *pass)
{
    const struct json *old = json_get(pass->deployment, "status");
    bool rolling_out = !pass->deleting && !pass->paused && !pass->resized, unchanged = false;
    struct json *status = json_clone_object(pass->arena, old);
    deployment_note_paused(pass, status);
    if (pass->new_set)
        deployment_note_found(pass, status);
    if (pass->new_set && !pass->deleting && !deployment_plan_annotate(pass))
        return; /* the annotations are written first; the next pass continues */
    if (rolling_out)
        unchanged = roll_out(pass, status);
    else if (!pass->deleting)
        deployment_size_scale(pass);
    deployment_plan_resize(pass);
    if (!pass->deleting &&
        (pass->paused || (rolling_out && unchanged && deployment_is_complete(pass, old))))
        deployment_plan_forget(pass);
    deployment_status(pass, status);
    if (rolling_out)
        deployment_status_progress(pass, status);
    pass->plan->status = status;
}

void deployment_reconcile(struct arena *arena, const struct deployment_observed *observed,
                          struct deployment_plan *ret)
{
    struct deployment_pass pass = {
        .arena = arena,
        .observed = observed,
        .deployment = observed->deployment,
        .now_ms = observed->now_ms,
        .plan = ret,
    };
    *ret = (struct deployment_plan){.requeue_ms = -1};
    deployment_pass_read(&pass);
    /* If sets are adopted or released, the next pass continues with the rollout. */
    if (ret->action_count == 0)
        deployment_advance(&pass);
}
