/* Resolves references when a workflow runs. The validation has checked most of them before
 * (validate_references.c). A value is missing now if its step has not produced it, or if the
 * workflow has no such label or annotation, or the item no such member. */
#include "pipeline/reconcile/reconcile_internal.h"
#include "pipeline/spec/workflow.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"

#include <string.h>

static const char *scope_fail(const char *reference, const char *why, struct err *err)
{
    (void)err_set(err, ERR_INVALID, "cannot resolve '{{%s}}': %s", reference, why);
    return NULL;
}

static const char *parameter_value(struct workflow_pass *pass, const struct json *list,
                                   const char *name)
{
    const struct json *parameter = workflow_find_by_name(list, name);
    const char *value = workflow_value_text(pass->arena, json_get(parameter, "value"));

    return value ? value : workflow_value_text(pass->arena, json_get(parameter, "default"));
}

static const char *resolve_workflow(struct workflow_scope *scope, const char *name,
                                    const char *reference, struct err *err)
{
    struct workflow_pass *pass = scope->pass;
    const char *value = NULL;

    if (str_eq(name, "name"))
        value = pass->name;
    else if (str_eq(name, "namespace"))
        value = pass->namespace_;
    else if (str_eq(name, "uid"))
        value = pass->uid;
    else if (str_eq(name, "serviceAccountName"))
        value = json_get_string(pass->spec, "serviceAccountName", "default");
    else if (str_eq(name, "mainEntrypoint"))
        value = json_get_string(pass->spec, "entrypoint", "");
    else if (str_eq(name, "creationTimestamp"))
        value = json_get_string(json_get(pass->workflow, "metadata"), "creationTimestamp", "");
    else if (str_eq(name, "status"))
        value = json_get_string(workflow_node_by_id(&pass->nodes, pass->name), "phase", "Running");
    else if (str_eq(name, "parameters"))
        value = json_to_string(pass->arena, json_at(pass->spec, "arguments", "parameters", NULL));
    else if (str_has_prefix(name, "parameters."))
        value = parameter_value(pass, json_at(pass->spec, "arguments", "parameters", NULL),
                                name + strlen("parameters."));
    else if (str_has_prefix(name, "labels."))
        value = kube_meta_label(pass->workflow, name + strlen("labels."));
    else if (str_has_prefix(name, "annotations."))
        value = kube_meta_annotation(pass->workflow, name + strlen("annotations."));
    return value ? value : scope_fail(reference, "the workflow has no such value", err);
}

const char *workflow_step_node_name(struct arena *arena, const struct json *boundary,
                                    const struct json *template_, const char *step)
{
    size_t position = 0;

    JSON_EACH (group, json_get(template_, "steps")) {
        if (workflow_find_by_name(group, step))
            return arena_printf(arena, "%s[%zu].%s", workflow_node_name(boundary), position, step);
        position++;
    }
    return NULL;
}

/* Resolves "NAME.outputs.parameters.P", "NAME.status" or "NAME.id" of another task or step of the
 * template. */
static const char *resolve_sibling(struct workflow_scope *scope, const char *rest, bool step,
                                   const char *reference, struct err *err)
{
    static const char outputs[] = ".outputs.parameters.";
    struct arena *arena = scope->pass->arena;
    size_t size = strcspn(rest, ".");
    const char *sibling = arena_strndup(arena, rest, size), *name, *value = NULL;

    if (!scope->boundary)
        return scope_fail(reference, "there are no tasks or steps to refer to here", err);
    name = step ? workflow_step_node_name(arena, scope->boundary, scope->template_, sibling)
                : arena_printf(arena, "%s.%s", workflow_node_name(scope->boundary), sibling);
    const struct json *node = name ? workflow_node_find(&scope->pass->nodes, name) : NULL;
    if (!node)
        return scope_fail(reference, arena_printf(arena, "'%s' has not run", sibling), err);
    rest += size;
    if (str_has_prefix(rest, outputs))
        value = workflow_node_output(node, rest + strlen(outputs));
    else if (str_eq(rest, ".status"))
        value = json_get_string(node, "phase", "");
    else if (str_eq(rest, ".id"))
        value = json_get_string(node, "id", "");
    return value ? value
                 : scope_fail(reference,
                              arena_printf(arena, "'%s' (%s) has no such output", sibling,
                                           json_get_string(node, "phase", "")),
                              err);
}

static const char *resolve_item(struct workflow_scope *scope, const char *reference,
                                struct err *err)
{
    const struct json *value = scope->item;

    if (value && reference[strlen("item")] == '.')
        value = json_get(value, reference + strlen("item."));
    const char *text = workflow_value_text(scope->pass->arena, value);
    return text ? text : scope_fail(reference, "there is no such item", err);
}

const char *workflow_scope_resolve(void *context, const char *reference, struct err *err)
{
    struct workflow_scope *scope = context;
    struct arena *arena = scope->pass->arena;
    const char *value = NULL;

    if (str_has_prefix(reference, "workflow."))
        return resolve_workflow(scope, reference + strlen("workflow."), reference, err);
    if (str_has_prefix(reference, "inputs.parameters."))
        value =
            parameter_value(scope->pass, scope->inputs, reference + strlen("inputs.parameters."));
    else if (str_eq(reference, "inputs.parameters"))
        value = scope->inputs ? json_to_string(arena, scope->inputs) : "[]";
    else if (str_has_prefix(reference, "tasks."))
        return resolve_sibling(scope, reference + strlen("tasks."), false, reference, err);
    else if (str_has_prefix(reference, "steps."))
        return resolve_sibling(scope, reference + strlen("steps."), true, reference, err);
    else if (str_eq(reference, "item") || str_has_prefix(reference, "item."))
        return resolve_item(scope, reference, err);
    else if (str_eq(reference, "pod.name"))
        value = scope->pod_name;
    else if (str_eq(reference, "retries"))
        value = scope->retries >= 0 ? arena_printf(arena, "%d", scope->retries) : NULL;
    return value ? value : scope_fail(reference, "there is no such value here", err);
}
