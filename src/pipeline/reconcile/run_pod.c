/* Runs a node that is a pod: creates the pod once, follows it until it ends, and stops it at its
 * deadline. */
#include "pipeline/reconcile/reconcile_internal.h"
#include "pipeline/spec/workflow.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"

/* Returns true if the workflow is not held, and the limits of the workflow and of the calling
 * template allow one more pod. */
static bool may_start(struct workflow_pass *pass, const struct workflow_call *call)
{
    int64_t limit = call->scope ? json_get_int(call->scope->template_, "parallelism", 0) : 0;
    int64_t active_siblings = 0;

    if (pass->held || (pass->parallelism > 0 && pass->active >= pass->parallelism))
        return false;
    if (limit <= 0 || !call->boundary)
        return true;
    JSON_EACH (node, pass->nodes.tree) {
        active_siblings += str_eq(json_get_string(node, "boundaryID", NULL),
                                  json_get_string(call->boundary, "id", "")) &&
                           workflow_node_is_type(node, "Pod") && !workflow_node_is_final(node);
    }
    return active_siblings < limit;
}

static void plan_pod(struct workflow_pass *pass, struct workflow_call *call, struct json *node,
                     const struct json *inputs)
{
    struct err err = ERR_INIT;
    struct json *pod;

    if (workflow_pod_build(pass, call, inputs, &pod, &err) < 0) {
        workflow_pass_set(pass, node, WORKFLOW_ERROR, arena_strdup(pass->arena, err.message));
        return;
    }
    struct workflow_action *action =
        workflow_plan_add(pass->plan, WORKFLOW_CREATE_POD, pass->namespace_, kube_meta_name(pod));
    action->object = pod;
    action->node_id = kube_meta_name(pod);
}

/* Returns the last version of a deleted pod that belongs to this workflow, or NULL. */
static const struct json *find_gone(const struct workflow_pass *pass, const char *id)
{
    const struct json *pod = map_get(&pass->gone, id);

    return pod && kube_meta_is_controlled_by(pod, pass->uid) ? pod : NULL;
}

/* Handles a node without a pod: creates the pod, or ends the node if the pod was deleted or could
 * not be created. */
static void handle_missing(struct workflow_pass *pass, struct workflow_call *call,
                           struct json *node, const struct json *inputs)
{
    const char *id = json_get_string(node, "id", "");
    const struct json *last = find_gone(pass, id);
    const struct workflow_result *result = workflow_pass_result(pass, id);

    if (last)
        workflow_pod_update_node(pass, node, call->template_, last);
    if (workflow_node_is_final(node))
        return;
    if (last || json_get(node, "hostNodeName"))
        workflow_pass_set(pass, node, WORKFLOW_ERROR, "pod deleted");
    else if (result && result->error)
        workflow_pass_set(pass, node, WORKFLOW_ERROR, arena_strdup(pass->arena, result->error));
    else if (!pass->held)
        plan_pod(pass, call, node, inputs);
}

/* Ends a node whose deadline has passed. The deadline counts from the start of the node. The
 * cleanup deletes the pod. */
static void check_deadline(struct workflow_pass *pass, const struct workflow_call *call,
                           struct json *node)
{
    const struct json *limit = json_get(call->template_, "activeDeadlineSeconds");
    int64_t limit_ms;

    if (!limit || workflow_parse_duration(limit, &limit_ms, NULL) < 0 ||
        workflow_node_is_final(node))
        return;
    int64_t left = workflow_node_time(node, "startedAt") + limit_ms - pass->now_ms;
    if (left > 0)
        workflow_plan_requeue(pass->plan, left);
    else
        workflow_pass_set(pass, node, WORKFLOW_FAILED,
                          "Pod was active on the node longer than the specified deadline");
}

/* Handles a pod with the node's name that does not belong to this workflow. If it will be deleted
 * (workflow_object_is_obsolete()), the node waits. Otherwise the node ends with an error. */
static void handle_foreign(struct workflow_pass *pass, struct json *node, const struct json *pod)
{
    const char *name = kube_meta_name(pod);

    if (workflow_object_is_obsolete(pod))
        workflow_pass_set(pass, node, WORKFLOW_PENDING,
                          arena_printf(pass->arena,
                                       "waiting until pod '%s' of an earlier workflow is deleted",
                                       name));
    else
        workflow_pass_set(pass, node, WORKFLOW_ERROR,
                          arena_printf(pass->arena,
                                       "pod '%s' exists and does not belong to this workflow",
                                       name));
}

struct json *workflow_run_pod(struct workflow_pass *pass, struct workflow_call *call,
                              const struct json *inputs)
{
    struct json *node = workflow_node_find(&pass->nodes, call->name);

    if (!node) {
        if (!may_start(pass, call))
            return NULL;
        node = workflow_call_begin(pass, call, "Pod", WORKFLOW_PENDING, inputs);
        pass->active++;
    }
    const struct json *pod = map_get(&pass->pods, json_get_string(node, "id", ""));
    if (!pod)
        handle_missing(pass, call, node, inputs);
    else if (!kube_meta_is_controlled_by(pod, pass->uid))
        handle_foreign(pass, node, pod);
    else
        workflow_pod_update_node(pass, node, call->template_, pod);
    check_deadline(pass, call, node);
    return node;
}
