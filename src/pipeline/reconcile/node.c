/* Finds, adds and changes the nodes of a workflow; see node.h. */
#include "pipeline/reconcile/node.h"

#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "pipeline/spec/workflow.h"

#include <stdint.h>

static const char *const PHASES[] = {
    [WORKFLOW_ABSENT] = "",         [WORKFLOW_PENDING] = "Pending",
    [WORKFLOW_RUNNING] = "Running", [WORKFLOW_SUCCEEDED] = "Succeeded",
    [WORKFLOW_SKIPPED] = "Skipped", [WORKFLOW_OMITTED] = "Omitted",
    [WORKFLOW_FAILED] = "Failed",   [WORKFLOW_ERROR] = "Error",
};

void workflow_nodes_init(struct workflow_nodes *nodes, struct arena *arena, const char *workflow,
                         struct json *tree, int64_t now_ms)
{
    *nodes = (struct workflow_nodes){
        .arena = arena, .workflow = workflow, .tree = tree, .now_ms = now_ms};
    map_init(&nodes->by_id);
    JSON_EACH (node, tree) {
        map_put(&nodes->by_id, node->name, node);
    }
}

void workflow_nodes_release(struct workflow_nodes *nodes)
{
    map_release(&nodes->by_id);
}

/* The hash is 32-bit FNV-1a, as in the pod names of Argo. */
char *workflow_node_id(struct arena *arena, const char *workflow, const char *node_name)
{
    uint32_t hash = 2166136261U;

    if (str_eq(workflow, node_name))
        return arena_strdup(arena, workflow);
    for (const char *at = node_name; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619U;
    return arena_printf(arena, "%s-%u", workflow, hash);
}

struct json *workflow_node_by_id(const struct workflow_nodes *nodes, const char *id)
{
    return map_get(&nodes->by_id, id);
}

struct json *workflow_node_find(const struct workflow_nodes *nodes, const char *name)
{
    return workflow_node_by_id(nodes, workflow_node_id(nodes->arena, nodes->workflow, name));
}

static void node_set_time(struct workflow_nodes *nodes, struct json *node, const char *field)
{
    char text[MOMENT_TEXT_MAX];

    moment_format(nodes->now_ms, text);
    json_set_string(nodes->arena, node, field, text);
}

struct json *workflow_node_add(struct workflow_nodes *nodes, const char *name, const char *display,
                               const char *type, const char *template_name,
                               const struct json *boundary, enum workflow_phase phase)
{
    struct arena *arena = nodes->arena;
    const char *id = workflow_node_id(arena, nodes->workflow, name);
    struct json *node = json_object(arena);

    json_set_string(arena, node, "id", id);
    json_set_string(arena, node, "name", name);
    json_set_string(arena, node, "displayName", display);
    json_set_string(arena, node, "type", type);
    if (template_name) {
        json_set_string(arena, node, "templateName", template_name);
        json_set(arena, node, "templateScope", json_stringf(arena, "local/%s", nodes->workflow));
    }
    if (boundary)
        json_set_string(arena, node, "boundaryID", json_get_string(boundary, "id", ""));
    node_set_time(nodes, node, "startedAt");
    json_set_string(arena, node, "phase", "");
    node = json_set(arena, nodes->tree, id, node);
    map_put(&nodes->by_id, id, node);
    workflow_node_set(nodes, node, phase, NULL);
    return node;
}

void workflow_node_add_child(struct workflow_nodes *nodes, struct json *parent,
                             const struct json *child)
{
    const char *id = json_get_string(child, "id", "");
    struct json *children = json_ensure_array(nodes->arena, parent, "children");

    JSON_EACH (known, children) {
        if (str_eq(json_text(known), id))
            return;
    }
    json_append(children, json_string(nodes->arena, id));
}

const char *workflow_phase_name(enum workflow_phase phase)
{
    return PHASES[phase];
}

enum workflow_phase workflow_node_phase(const struct json *node)
{
    const char *name = json_get_string(node, "phase", "");

    for (size_t i = 0; i < ARRAY_SIZE(PHASES); i++)
        if (str_eq(PHASES[i], name))
            return (enum workflow_phase)i;
    return WORKFLOW_ABSENT;
}

bool workflow_node_is_final(const struct json *node)
{
    return workflow_phase_is_final(workflow_node_phase(node));
}

bool workflow_node_set(struct workflow_nodes *nodes, struct json *node, enum workflow_phase phase,
                       const char *message)
{
    enum workflow_phase before = workflow_node_phase(node);
    const char *old_message = json_get_string(node, "message", NULL);

    if (workflow_phase_is_final(before) || (before == phase && str_eq(old_message, message)))
        return false;
    json_set_string(nodes->arena, node, "phase", PHASES[phase]);
    if (message)
        json_set_string(nodes->arena, node, "message", message);
    else
        json_remove(node, "message");
    if (workflow_phase_is_final(phase))
        node_set_time(nodes, node, "finishedAt");
    return true;
}

const char *workflow_node_name(const struct json *node)
{
    return json_get_string(node, "name", "");
}

bool workflow_node_is_type(const struct json *node, const char *type)
{
    return str_eq(json_get_string(node, "type", ""), type);
}

int64_t workflow_node_time(const struct json *node, const char *field)
{
    const char *text = json_get_string(node, field, NULL);
    int64_t wall_ms;

    return text && moment_parse(text, &wall_ms, NULL) == 0 ? wall_ms : -1;
}

const char *workflow_node_output(const struct json *node, const char *parameter)
{
    const struct json *found =
        workflow_find_by_name(json_at(node, "outputs", "parameters", NULL), parameter);

    return json_get_string(found, "value", NULL);
}

void workflow_node_add_output(struct workflow_nodes *nodes, struct json *node, const char *name,
                              const char *value)
{
    struct arena *arena = nodes->arena;
    struct json *outputs = json_ensure_object(arena, node, "outputs");
    struct json *parameter = json_object(arena);

    json_set_string(arena, parameter, "name", name);
    json_set_string(arena, parameter, "value", value);
    json_append(json_ensure_array(arena, outputs, "parameters"), parameter);
}
