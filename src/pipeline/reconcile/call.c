/* Runs one call of a template: computes its inputs from the caller's arguments, finds or creates
 * its node, and calls the function for the template's type. Also sets the phases of nodes
 * (workflow_pass_set()). */
#include "pipeline/reconcile/reconcile_internal.h"
#include "pipeline/spec/text.h"
#include "pipeline/spec/workflow.h"

#include "base/mem.h"
#include "base/str.h"

#include <string.h>

void workflow_pass_set(struct workflow_pass *pass, struct json *node, enum workflow_phase phase,
                       const char *message)
{
    bool pod = workflow_node_is_type(node, "Pod");
    const char *name = workflow_node_name(node);

    if (!workflow_node_set(&pass->nodes, node, phase, message) || !workflow_phase_is_final(phase))
        return;
    if (phase == WORKFLOW_SUCCEEDED && pod)
        workflow_plan_event(pass->plan, false, "WorkflowNodeSucceeded", "Succeeded node %s", name);
    else if (phase == WORKFLOW_FAILED || phase == WORKFLOW_ERROR)
        workflow_plan_event(pass->plan, true,
                            phase == WORKFLOW_FAILED ? "WorkflowNodeFailed" : "WorkflowNodeError",
                            "%s node %s%s%s", workflow_phase_name(phase), name, message ? ": " : "",
                            message ? message : "");
}

const struct workflow_result *workflow_pass_result(const struct workflow_pass *pass,
                                                   const char *node_id)
{
    for (size_t i = 0; i < pass->observed->result_count; i++)
        if (str_eq(pass->observed->results[i].node_id, node_id))
            return &pass->observed->results[i];
    return NULL;
}

/* Computes one input and appends it to `list`: the caller's argument, or else the value or default
 * in the template. */
static int make_input(struct workflow_pass *pass, const struct workflow_call *call,
                      const struct json *input, struct json *list, struct err *err)
{
    const char *name = json_get_string(input, "name", "");
    const struct json *argument =
        workflow_find_by_name(json_get(call->arguments, "parameters"), name);
    const char *value = workflow_value_text(pass->arena, json_get(argument, "value"));
    struct json *made = json_object(pass->arena);
    int result = 0;

    if (value)
        result = workflow_text_expand(pass->arena, value, workflow_scope_resolve, call->scope,
                                      &value, err);
    if (!value)
        value = workflow_value_text(pass->arena, json_get(input, "value"));
    if (!value)
        value = workflow_value_text(pass->arena, json_get(input, "default"));
    if (result == 0 && !value)
        result = err_set(err, ERR_INVALID, "input parameter '%s' has no value", name);
    if (result < 0)
        return result;
    json_set_string(pass->arena, made, "name", name);
    json_set_string(pass->arena, made, "value", value);
    json_append(list, made);
    return 0;
}

static int make_inputs(struct workflow_pass *pass, const struct workflow_call *call,
                       const struct json **ret, struct err *err)
{
    struct json *list = json_array(pass->arena);

    JSON_EACH (input, json_at(call->template_, "inputs", "parameters", NULL)) {
        int result = make_input(pass, call, input, list, err);

        if (result < 0)
            return result;
    }
    *ret = list;
    return 0;
}

struct json *workflow_call_begin(struct workflow_pass *pass, const struct workflow_call *call,
                                 const char *type, enum workflow_phase phase,
                                 const struct json *inputs)
{
    struct json *node = workflow_node_find(&pass->nodes, call->name);

    if (node)
        return node;
    node = workflow_node_add(&pass->nodes, call->name, call->display, type,
                             json_get_string(call->template_, "name", NULL), call->boundary,
                             WORKFLOW_PENDING);
    if (json_count(inputs))
        json_set(pass->arena, json_ensure_object(pass->arena, node, "inputs"), "parameters",
                 json_clone(pass->arena, inputs));
    workflow_pass_set(pass, node, phase, NULL);
    return node;
}

/* Ends the node of the call with an error, and returns the node. */
static struct json *fail_call(struct workflow_pass *pass, const struct workflow_call *call,
                              const char *message)
{
    struct json *node = workflow_call_begin(pass, call, "Skipped", WORKFLOW_PENDING, NULL);

    workflow_pass_set(pass, node, WORKFLOW_ERROR, arena_strdup(pass->arena, message));
    return node;
}

static struct json *call_dispatch(struct workflow_pass *pass, struct workflow_call *call,
                                  const struct json *inputs)
{
    const struct json *retry = json_get(call->template_, "retryStrategy");

    if (call->attempt < 0 && retry && retry->type == JSON_OBJECT)
        return workflow_run_retry(pass, call, inputs);
    switch (workflow_template_type(call->template_)) {
    case WORKFLOW_CONTAINER:
    case WORKFLOW_SCRIPT:
        return workflow_run_pod(pass, call, inputs);
    case WORKFLOW_RESOURCE:
        return workflow_run_resource(pass, call, inputs);
    default:
        return workflow_run_graph(pass, call, inputs);
    }
}

struct json *workflow_call_run(struct workflow_pass *pass, struct workflow_call *call)
{
    struct json *node = workflow_node_find(&pass->nodes, call->name);
    const struct json *inputs = call->inputs;
    struct err err = ERR_INIT;

    if (workflow_node_is_final(node))
        return node;
    if (node)
        inputs = json_at(node, "inputs", "parameters", NULL);
    else if (!inputs && make_inputs(pass, call, &inputs, &err) < 0)
        return fail_call(pass, call, err.message);
    if (pass->depth == WORKFLOW_DEPTH_MAX)
        return fail_call(pass, call,
                         arena_printf(pass->arena,
                                      "template '%s' is nested in %d others, which is the limit: "
                                      "check whether a template calls itself endlessly",
                                      json_get_string(call->template_, "name", ""),
                                      WORKFLOW_DEPTH_MAX));
    if (!node && pass->nodes.by_id.count >= WORKFLOW_NODES_MAX)
        return fail_call(pass, call,
                         arena_printf(pass->arena, "the workflow has reached the limit of %d nodes",
                                      WORKFLOW_NODES_MAX));
    pass->depth++;
    node = call_dispatch(pass, call, inputs);
    pass->depth--;
    return node;
}
