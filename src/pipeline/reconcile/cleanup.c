/* Plans the cleanup: labels ended pods, and deletes pods and claims that are no longer needed, and
 * the workflow itself after its time to live. */
#include "pipeline/reconcile/reconcile_internal.h"
#include "pipeline/spec/workflow.h"

#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "kube/object.h"

static enum workflow_phase cleanup_phase(const struct workflow_pass *pass)
{
    return workflow_node_phase(pass->status);
}

/* Returns true if podGC demands that the pod of an ended node is deleted. */
static bool gc_deletes_pod(const struct workflow_pass *pass, const struct json *node)
{
    const char *strategy = json_get_string(json_get(pass->spec, "podGC"), "strategy", "");
    enum workflow_phase phase = cleanup_phase(pass);

    if (str_eq(strategy, "OnPodCompletion"))
        return true;
    if (str_eq(strategy, "OnPodSuccess"))
        return workflow_node_phase(node) == WORKFLOW_SUCCEEDED;
    if (str_eq(strategy, "OnWorkflowCompletion"))
        return workflow_phase_is_final(phase);
    return str_eq(strategy, "OnWorkflowSuccess") && phase == WORKFLOW_SUCCEEDED;
}

static bool pod_has_ended(const struct json *pod)
{
    const char *phase = json_get_string(json_get(pod, "status"), "phase", "");

    return str_eq(phase, "Succeeded") || str_eq(phase, "Failed");
}

static void tidy_pod(struct workflow_pass *pass, const struct json *pod)
{
    const struct json *node = workflow_node_by_id(&pass->nodes, kube_meta_name(pod));
    bool over = workflow_phase_is_final(cleanup_phase(pass));
    bool ended = pod_has_ended(pod), done = workflow_node_is_final(node);

    if (!node || kube_meta_is_deleting(pod) || !kube_meta_is_controlled_by(pod, pass->uid))
        return;
    /* A pod that still runs after its step has ended, for example because of a deadline, is
     * deleted. */
    if ((over && !ended) || (done && (!ended || gc_deletes_pod(pass, node)))) {
        workflow_plan_add(pass->plan, WORKFLOW_DELETE_POD, pass->namespace_, kube_meta_name(pod))
            ->uid = kube_meta_uid(pod);
    } else if (ended && done && !str_eq(kube_meta_label(pod, WORKFLOW_COMPLETED_LABEL), "true")) {
        workflow_plan_add(pass->plan, WORKFLOW_LABEL_POD, pass->namespace_, kube_meta_name(pod));
    }
}

/* Deletes claims that are no longer needed. Claims of a failed workflow are kept for debugging,
 * unless the strategy is OnWorkflowCompletion. */
static void tidy_claims(struct workflow_pass *pass)
{
    const char *strategy = json_get_string(json_get(pass->spec, "volumeClaimGC"), "strategy", "");
    bool kept =
        cleanup_phase(pass) != WORKFLOW_SUCCEEDED && !str_eq(strategy, "OnWorkflowCompletion");

    if (kept || !json_get(pass->status, "persistentVolumeClaims"))
        return;
    JSON_EACH (template_, json_get(pass->spec, "volumeClaimTemplates")) {
        workflow_plan_add(pass->plan, WORKFLOW_DELETE_CLAIM, pass->namespace_,
                          workflow_claim_name(pass, template_));
    }
    json_remove(pass->status, "persistentVolumeClaims");
}

static void tidy_workflow(struct workflow_pass *pass)
{
    const struct json *ttl = json_get(pass->spec, "ttlStrategy");
    bool succeeded = cleanup_phase(pass) == WORKFLOW_SUCCEEDED;
    int64_t seconds = json_get_int(ttl, "secondsAfterCompletion", -1);
    int64_t ended = workflow_node_time(pass->status, "finishedAt"), left;

    seconds = json_get_int(ttl, succeeded ? "secondsAfterSuccess" : "secondsAfterFailure", seconds);
    if (seconds < 0)
        seconds = json_get_int(pass->spec, "ttlSecondsAfterFinished", -1);
    if (seconds < 0 || ended < 0)
        return;
    left = moment_after(ended, seconds) - pass->now_ms;
    if (left > 0)
        workflow_plan_requeue(pass->plan, left);
    else
        workflow_plan_add(pass->plan, WORKFLOW_DELETE_WORKFLOW, pass->namespace_, pass->name)->uid =
            pass->uid;
}

void workflow_pass_clean_up(struct workflow_pass *pass)
{
    for (size_t i = 0; i < pass->observed->pod_count; i++)
        tidy_pod(pass, pass->observed->pods[i]);
    if (!workflow_phase_is_final(cleanup_phase(pass)))
        return;
    tidy_claims(pass);
    tidy_workflow(pass);
}
