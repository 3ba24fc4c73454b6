/* Runs a task or step whose dependencies are met: evaluates its condition and runs its template,
 * once per item if it has items. */
#include "pipeline/reconcile/reconcile_internal.h"
#include "pipeline/spec/condition.h"
#include "pipeline/spec/text.h"
#include "pipeline/spec/workflow.h"

#include "base/mem.h"
#include "base/str.h"

#include <string.h>

enum { ITEM_NAME_MAX = 80 }; /* bytes of the item's text in a node's name */

/* Adds a node that has ended, without running the template. */
static struct json *end_at_once(struct workflow_pass *pass, struct workflow_call *call,
                                enum workflow_phase phase, const char *message)
{
    struct json *node = workflow_call_begin(pass, call, "Skipped", WORKFLOW_PENDING, NULL);

    workflow_pass_set(pass, node, phase, message);
    return node;
}

/* Runs the task's template once. If the task has items, call->scope has the current item. */
static struct json *run_one(struct workflow_pass *pass, struct workflow_call *call,
                            const struct json *task)
{
    const char *when = json_get_string(task, "when", NULL), *expanded;
    struct err err = ERR_INIT;
    bool holds = true;

    if (!str_is_empty(when) && !workflow_node_find(&pass->nodes, call->name)) {
        if (workflow_text_expand(pass->arena, when, workflow_scope_resolve, call->scope, &expanded,
                                 &err) < 0 ||
            workflow_condition_eval(pass->arena, expanded, &holds, &err) < 0)
            return end_at_once(pass, call, WORKFLOW_ERROR,
                               arena_printf(pass->arena, "when: %s", err.message));
        if (!holds)
            return end_at_once(pass, call, WORKFLOW_SKIPPED,
                               arena_printf(pass->arena, "when '%s' evaluated false", expanded));
    }
    return workflow_call_run(pass, call);
}

/* Finds the list of withItems, or of withParam parsed as JSON. *ret is NULL if the task has
 * neither. */
static int find_items(struct workflow_pass *pass, struct workflow_call *call,
                      const struct json *task, const struct json **ret, struct err *err)
{
    const struct json *items = json_get(task, "withItems");
    const char *text = json_get_string(task, "withParam", NULL);
    struct json *made = NULL;
    int result = 0;

    *ret = NULL;
    if (items && items->type == JSON_ARRAY) {
        result = workflow_tree_expand(pass->arena, items, workflow_scope_resolve, call->scope,
                                      &made, err);
    } else if (text) {
        result = workflow_text_expand(pass->arena, text, workflow_scope_resolve, call->scope, &text,
                                      err);
        if (result == 0 && (json_parse(pass->arena, text, strlen(text), NULL, &made, NULL) < 0 ||
                            made->type != JSON_ARRAY))
            result = err_set(err, ERR_INVALID, "withParam: '%.100s' is not a JSON list", text);
    }
    if (result == 0 && json_count(made) > WORKFLOW_ITEMS_MAX)
        result = err_set(err, ERR_TOO_MANY, "the list has %zu items, but the limit is %d",
                         json_count(made), WORKFLOW_ITEMS_MAX);
    if (result == 0)
        *ret = made;
    return result;
}

/* Sets the outputs of a task with items: each is a list of the values of all items that have the
 * output. */
static void gather_outputs(struct workflow_pass *pass, struct json *group,
                           const struct json *template_, struct json *const *nodes, size_t count)
{
    JSON_EACH (output, json_at(template_, "outputs", "parameters", NULL)) {
        const char *name = json_get_string(output, "name", "");
        struct json *values = json_array(pass->arena);

        for (size_t i = 0; i < count; i++) {
            const char *value = workflow_node_output(nodes[i], name);

            if (value)
                json_append(values, json_string(pass->arena, value));
        }
        workflow_node_add_output(&pass->nodes, group, name, json_to_string(pass->arena, values));
    }
}

static struct json *run_item(struct workflow_pass *pass, const struct workflow_call *call,
                             const struct json *task, struct json *group, const struct json *item,
                             size_t position)
{
    struct workflow_scope scope = *call->scope;
    struct workflow_call item_call = *call;
    const char *text = workflow_value_text(pass->arena, item);

    if (!text)
        text = "null";
    scope.item = item;
    item_call.scope = &scope;
    item_call.name =
        arena_printf(pass->arena, "%s(%zu:%.*s)", call->name, position, ITEM_NAME_MAX, text);
    bool known = workflow_node_find(&pass->nodes, item_call.name) != NULL;
    item_call.display =
        arena_printf(pass->arena, "%s(%zu:%.*s)", call->display, position, ITEM_NAME_MAX, text);
    struct json *node = run_one(pass, &item_call, task);
    if (node && !known)
        workflow_node_add_child(&pass->nodes, group, node);
    return node;
}

static struct json *run_items(struct workflow_pass *pass, struct workflow_call *call,
                              const struct json *task, const struct json *items)
{
    struct json *group = workflow_call_begin(pass, call, "TaskGroup", WORKFLOW_RUNNING, NULL);
    struct json **nodes = ARENA_ARRAY(pass->arena, struct json *, json_count(items) + 1);
    enum workflow_phase phase = WORKFLOW_SUCCEEDED;
    bool running = false;
    size_t position = 0;

    JSON_EACH (item, items) {
        struct json *node = run_item(pass, call, task, group, item, position);
        enum workflow_phase item_phase = workflow_node_phase(node);

        nodes[position++] = node;
        running = running || !workflow_phase_is_final(item_phase);
        if (item_phase == WORKFLOW_FAILED ||
            (item_phase == WORKFLOW_ERROR && phase != WORKFLOW_FAILED))
            phase = item_phase;
    }
    if (running)
        return group;
    if (phase == WORKFLOW_SUCCEEDED)
        gather_outputs(pass, group, call->template_, nodes, position);
    workflow_pass_set(pass, group, phase, NULL);
    return group;
}

struct json *workflow_run_task(struct workflow_pass *pass, struct workflow_call *call,
                               const struct json *task)
{
    const struct json *items;
    struct err err = ERR_INIT;

    if (find_items(pass, call, task, &items, &err) < 0)
        return end_at_once(pass, call, WORKFLOW_ERROR, arena_strdup(pass->arena, err.message));
    return items ? run_items(pass, call, task, items) : run_one(pass, call, task);
}
