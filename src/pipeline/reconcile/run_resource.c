/* Runs a resource template: the controller itself creates, patches, reads or deletes an API object
 * and reads outputs from it. If the controller dies before the result is recorded, the action runs
 * again. Therefore a generated name depends only on the workflow and the node, and an annotation of
 * the object names both, so that the second attempt recognizes the object. */
#include "pipeline/reconcile/reconcile_internal.h"
#include "pipeline/reconcile/resource_kind.h"
#include "pipeline/spec/condition.h"
#include "pipeline/spec/text.h"
#include "pipeline/spec/workflow.h"

#include "base/json/yaml.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/json_path.h"
#include "kube/object.h"

#include <string.h>

enum { POLL_MS = 2000 }; /* an object that a condition waits for is read this often */

static const struct {
    const char *name;
    enum workflow_action_type type;
} ACTIONS[] = {
    {"create", WORKFLOW_CREATE_RESOURCE}, {"apply", WORKFLOW_APPLY_RESOURCE},
    {"patch", WORKFLOW_PATCH_RESOURCE},   {"get", WORKFLOW_GET_RESOURCE},
    {"delete", WORKFLOW_DELETE_RESOURCE},
};

static int parse_manifest(struct workflow_pass *pass, const struct workflow_call *call,
                          const struct json *inputs, struct json **ret, struct err *err)
{
    struct workflow_scope scope = {
        .pass = pass, .inputs = inputs, .retries = call->attempt, .pod_name = NULL};
    const char *text = json_get_string(json_get(call->template_, "resource"), "manifest", "");
    struct json *documents = NULL;
    int result =
        workflow_text_expand(pass->arena, text, workflow_scope_resolve, &scope, &text, err);

    if (result < 0)
        return result;
    const struct source source = {"manifest", text, strlen(text), false};
    result = yaml_parse(pass->arena, &source, NULL, &documents, err);
    if (result < 0)
        return result;
    if (json_count(documents) != 1 || json_first(documents)->type != JSON_OBJECT)
        return err_set(err, ERR_INVALID,
                       "manifest: must be one YAML document with an object, but has %zu documents",
                       json_count(documents));
    *ret = json_first(documents);
    return 0;
}

/* Sets the object's name, namespace, owner (with setOwnerReference only), and the annotation that
 * names workflow and node. */
static int complete_object(struct workflow_pass *pass, const struct workflow_call *call,
                           const char *node_id, struct json *object, struct err *err)
{
    struct arena *arena = pass->arena;
    const char *base = json_get_string(json_get(object, "metadata"), "generateName", "");
    bool owned = json_get_bool(json_get(call->template_, "resource"), "setOwnerReference", false);

    if (str_is_empty(kube_meta_name(object)) && base[0]) {
        const char *hash = strrchr(
            workflow_node_id(arena, pass->name, arena_printf(arena, "%s/%s", pass->uid, node_id)),
            '-');

        kube_meta_set_name(arena, object,
                           arena_printf(arena, "%s%s", base, hash ? hash + 1 : node_id));
        json_remove(json_get(object, "metadata"), "generateName");
    }
    if (!str_is_dns_subdomain(kube_meta_name(object)))
        return err_set(err, ERR_INVALID, "manifest: metadata.name: '%.100s' is not a valid name",
                       kube_meta_name(object));
    if (kube_meta_namespace(object)[0] && !str_eq(kube_meta_namespace(object), pass->namespace_))
        return err_set(err, ERR_FORBIDDEN,
                       "manifest: metadata.namespace: must be the workflow's namespace '%s'",
                       pass->namespace_);
    kube_meta_set_namespace(arena, object, pass->namespace_);
    kube_meta_set_annotation(arena, object, WORKFLOW_MADE_BY_ANNOTATION,
                             arena_printf(arena, "%s/%s", pass->uid, node_id));
    if (owned)
        kube_meta_add_owner(arena, object, kube_owner_reference_new(arena, pass->workflow, false));
    return 0;
}

/* Plans the action of the template. With `look_only` only reads the object. */
static int plan_action(struct workflow_pass *pass, const struct workflow_call *call,
                       const struct json *inputs, struct json *node, bool look_only,
                       struct err *err)
{
    const struct json *resource = json_get(call->template_, "resource");
    const char *verb = look_only ? "get" : json_get_string(resource, "action", "");
    const char *id = json_get_string(node, "id", "");
    enum workflow_action_type type = WORKFLOW_GET_RESOURCE;
    struct json *object = NULL;
    struct kube_resource kind;
    int result = parse_manifest(pass, call, inputs, &object, err);

    for (size_t i = 0; i < ARRAY_SIZE(ACTIONS); i++)
        if (str_eq(ACTIONS[i].name, verb))
            type = ACTIONS[i].type;
    if (result == 0)
        result = workflow_resource_kind(pass->arena, object, &kind, err);
    if (result == 0)
        result = complete_object(pass, call, id, object, err);
    if (result < 0)
        return result;
    struct workflow_action *action =
        workflow_plan_add(pass->plan, type, pass->namespace_, kube_meta_name(object));
    action->node_id = id;
    action->object = object;
    action->resource = kind;
    return 0;
}

static int make_outputs(struct workflow_pass *pass, struct json *node, const struct json *template_,
                        const struct json *object, struct err *err)
{
    JSON_EACH (output, json_at(template_, "outputs", "parameters", NULL)) {
        const char *name = json_get_string(output, "name", "");
        const char *path = json_get_string(json_get(output, "valueFrom"), "jsonPath", "{}");
        const struct json *value;
        int result = json_path_find_one(pass->arena, path, object, &value, err);

        if (result < 0)
            return err_wrap(err, "output parameter '%s'", name);
        const char *text = json_path_print(pass->arena, value);
        workflow_node_add_output(&pass->nodes, node, name, text ? text : "");
    }
    return 0;
}

/* Evaluates the success and failure conditions on the object that the server returned. Ends the
 * node, or plans to read the object again. */
static int resource_judge(struct workflow_pass *pass, const struct workflow_call *call,
                          struct json *node, const struct json *object, struct err *err)
{
    const struct json *resource = json_get(call->template_, "resource");
    const char *success = json_get_string(resource, "successCondition", NULL);
    const char *failure = json_get_string(resource, "failureCondition", NULL);
    bool failed = false, succeeded = true;
    int result = 0;

    if (!str_is_empty(failure))
        result = workflow_condition_eval_object(pass->arena, failure, object, &failed, err);
    if (result == 0 && !str_is_empty(success))
        result = workflow_condition_eval_object(pass->arena, success, object, &succeeded, err);
    if (result < 0)
        return result;
    if (failed) {
        workflow_pass_set(pass, node, WORKFLOW_FAILED,
                          arena_printf(pass->arena, "failureCondition '%s' is true", failure));
    } else if (!succeeded) {
        workflow_node_set(&pass->nodes, node, WORKFLOW_RUNNING,
                          arena_printf(pass->arena, "waiting for '%s'", success));
        workflow_plan_requeue(pass->plan, POLL_MS);
    } else {
        result = make_outputs(pass, node, call->template_, object, err);
        if (result == 0)
            workflow_pass_set(pass, node, WORKFLOW_SUCCEEDED, NULL);
    }
    return result;
}

struct json *workflow_run_resource(struct workflow_pass *pass, struct workflow_call *call,
                                   const struct json *inputs)
{
    struct json *node = workflow_node_find(&pass->nodes, call->name);
    struct err err = ERR_INIT;
    int failed = 0;

    if (!node && pass->held)
        return NULL;
    node = workflow_call_begin(pass, call, "Pod", WORKFLOW_RUNNING, inputs);
    const struct workflow_result *result =
        workflow_pass_result(pass, json_get_string(node, "id", ""));
    if (result && result->error)
        workflow_pass_set(pass, node, WORKFLOW_FAILED, arena_strdup(pass->arena, result->error));
    else if (result)
        failed = resource_judge(pass, call, node, result->object, &err);
    else /* a node with a message waits for its condition, so its action is done */
        failed = plan_action(pass, call, inputs, node, json_get(node, "message") != NULL, &err);
    if (failed < 0)
        workflow_pass_set(pass, node, WORKFLOW_ERROR, arena_strdup(pass->arena, err.message));
    return node;
}
