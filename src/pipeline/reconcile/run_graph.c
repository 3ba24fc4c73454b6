/* Runs a dag or steps template: continues its tasks, begins those whose dependencies are met, and
 * ends the template when all tasks have ended. */
#include "pipeline/reconcile/reconcile_internal.h"
#include "pipeline/spec/dag.h"
#include "pipeline/spec/text.h"
#include "pipeline/spec/workflow.h"

#include "base/mem.h"
#include "base/str.h"

#include <string.h>

/* The start of the message of a template that failed because of a child. */
#define CHILD_PREFIX "child '"

/* A task of a dag template, or a step of a steps template. */
struct member {
    const struct json *task;
    const char *node_name, *display;
    size_t group; /* for a step: the index of its group */
};

/* One dag or steps template that is being run. */
struct graph {
    struct workflow_pass *pass;
    struct workflow_call *call;
    struct json *node; /* the node of the template */
    bool steps;        /* a steps template; else a dag template */
    size_t group_count;
    struct member *members;
    struct workflow_dag dag;
    struct workflow_scope scope;
};

/* Returns the position of the member with this name, or SIZE_MAX. */
static size_t graph_find_member(const struct graph *graph, const char *name)
{
    for (size_t i = 0; i < graph->dag.count; i++)
        if (str_eq(json_get_string(graph->members[i].task, "name", NULL), name))
            return i;
    return SIZE_MAX;
}

static void add_member(struct graph *graph, const struct json *task, size_t group)
{
    struct arena *arena = graph->pass->arena;
    const char *name = json_get_string(task, "name", "");
    const char *place =
        graph->steps ? arena_printf(arena, "%s[%zu]", graph->call->name, group) : graph->call->name;
    size_t position = graph->dag.count++;

    graph->members[position] = (struct member){
        .task = task,
        .node_name = arena_printf(arena, "%s.%s", place, name),
        .display = name,
        .group = group,
    };
    graph->dag.tasks[position] = (struct workflow_dag_task){
        .continue_on_failed = json_get_bool(json_get(task, "continueOn"), "failed", false),
        .continue_on_error = json_get_bool(json_get(task, "continueOn"), "error", false),
    };
}

static void set_needs_of_task(struct graph *graph, size_t position)
{
    struct arena *arena = graph->pass->arena;
    struct workflow_dag_task *task = &graph->dag.tasks[position];
    const char **names;
    size_t count;

    if (workflow_task_needs(arena, graph->members[position].task, &names, &count, NULL) < 0)
        return;
    size_t *needs = ARENA_ARRAY(arena, size_t, count + 1);
    for (size_t i = 0; i < count; i++) {
        needs[task->need_count] = graph_find_member(graph, names[i]);
        task->need_count += needs[task->need_count] != SIZE_MAX;
    }
    task->needs = needs;
}

/* Returns the position of the first member in the group of this member. */
static size_t group_start(const struct graph *graph, size_t position)
{
    while (position > 0 && graph->members[position - 1].group == graph->members[position].group)
        position--;
    return position;
}

/* A step depends on the steps of the last group before it that is not empty. Members are stored in
 * the order of their groups. */
static void set_needs_of_step(struct graph *graph, size_t position)
{
    struct workflow_dag_task *task = &graph->dag.tasks[position];
    size_t *needs = ARENA_ARRAY(graph->pass->arena, size_t, graph->dag.count + 1);
    size_t end = group_start(graph, position);

    for (size_t i = end == 0 ? 0 : group_start(graph, end - 1); i < end; i++)
        needs[task->need_count++] = i;
    task->needs = needs;
}

static void read_members(struct graph *graph)
{
    const struct json *template_ = graph->call->template_;
    const struct json *tasks = json_at(template_, "dag", "tasks", NULL);
    struct arena *arena = graph->pass->arena;
    size_t count = json_count(tasks);

    JSON_EACH (group, json_get(template_, "steps")) {
        count += json_count(group);
    }
    graph->members = ARENA_ARRAY(arena, struct member, count + 1);
    graph->dag.tasks = ARENA_ARRAY(arena, struct workflow_dag_task, count + 1);
    JSON_EACH (task, tasks) {
        add_member(graph, task, 0);
    }
    JSON_EACH (group, json_get(template_, "steps")) {
        JSON_EACH (step, group) {
            add_member(graph, step, graph->group_count);
        }
        graph->group_count++;
    }
    for (size_t i = 0; i < graph->dag.count; i++) {
        if (graph->steps)
            set_needs_of_step(graph, i);
        else
            set_needs_of_task(graph, i);
    }
}

static const char *group_name(struct graph *graph, size_t group)
{
    return arena_printf(graph->pass->arena, "%s[%zu]", graph->call->name, group);
}

/* Adds the new node of a member to the children of the nodes before it: for a step, the node of its
 * group; for a task, the tasks that it depends on, or else the node of the template. */
static void link_node(struct graph *graph, size_t position, const struct json *node)
{
    struct workflow_nodes *nodes = &graph->pass->nodes;
    const struct workflow_dag_task *task = &graph->dag.tasks[position];
    struct json *parent;

    if (graph->steps) {
        parent = workflow_node_find(nodes, group_name(graph, graph->members[position].group));
        if (parent)
            workflow_node_add_child(nodes, parent, node);
        return;
    }
    for (size_t i = 0; i < task->need_count; i++) {
        parent = workflow_node_find(nodes, graph->members[task->needs[i]].node_name);
        if (parent)
            workflow_node_add_child(nodes, parent, node);
    }
    if (task->need_count == 0)
        workflow_node_add_child(nodes, graph->node, node);
}

/* Adds the node of the group when its first step begins. */
static void begin_group(struct graph *graph, size_t position)
{
    struct workflow_nodes *nodes = &graph->pass->nodes;
    const struct workflow_dag_task *task = &graph->dag.tasks[position];
    size_t group = graph->members[position].group;
    const char *name = group_name(graph, group);
    struct json *node;

    if (!graph->steps || workflow_node_find(nodes, name))
        return;
    node = workflow_node_add(nodes, name, arena_printf(graph->pass->arena, "[%zu]", group),
                             "StepGroup", NULL, graph->node, WORKFLOW_RUNNING);
    if (task->need_count == 0)
        workflow_node_add_child(nodes, graph->node, node);
    for (size_t i = 0; i < task->need_count; i++) {
        struct json *before = workflow_node_find(nodes, graph->members[task->needs[i]].node_name);

        if (before)
            workflow_node_add_child(nodes, before, node);
    }
}

static void run_member(struct graph *graph, size_t position)
{
    const struct member *member = &graph->members[position];
    struct workflow_call call = {
        .name = member->node_name,
        .display = member->display,
        .template_ = workflow_template(graph->pass->workflow,
                                       json_get_string(member->task, "template", NULL)),
        .arguments = json_get(member->task, "arguments"),
        .scope = &graph->scope,
        .boundary = graph->node,
        .attempt = -1,
    };
    bool known = workflow_node_find(&graph->pass->nodes, member->node_name) != NULL;

    begin_group(graph, position);
    const struct json *node = workflow_run_task(graph->pass, &call, member->task);
    if (node && !known)
        link_node(graph, position, node);
    graph->dag.tasks[position].phase = workflow_node_phase(node);
}

static void omit_member(struct graph *graph, size_t position)
{
    const struct member *member = &graph->members[position];
    struct json *node;

    /* In a steps template, steps that never began have no nodes, as in Argo. */
    if (graph->steps)
        return;
    node = workflow_node_add(&graph->pass->nodes, member->node_name, member->display, "Skipped",
                             json_get_string(member->task, "template", NULL), graph->node,
                             WORKFLOW_PENDING);
    workflow_node_set(&graph->pass->nodes, node, WORKFLOW_OMITTED,
                      "omitted: depends condition not met");
    link_node(graph, position, node);
}

/* Continues the members that have begun, begins those that may start, and returns the phase of the
 * graph. Repeats until nothing changes, because a task that ends at once, such as a skipped task,
 * allows other tasks to begin. */
static enum workflow_phase graph_advance(struct graph *graph)
{
    struct workflow_dag *dag = &graph->dag;
    enum workflow_phase phase;
    bool changed;

    for (size_t i = 0; i < dag->count; i++) {
        const struct json *node =
            workflow_node_find(&graph->pass->nodes, graph->members[i].node_name);

        dag->tasks[i].phase = workflow_node_phase(node);
        if (node && !workflow_node_is_final(node))
            run_member(graph, i);
    }
    do {
        phase = workflow_dag_advance(dag);
        changed = false;
        for (size_t i = 0; i < dag->count; i++) {
            if (!dag->tasks[i].start)
                continue;
            run_member(graph, i);
            changed = changed || workflow_phase_is_final(dag->tasks[i].phase);
        }
    } while (changed);
    if (phase == WORKFLOW_RUNNING)
        return phase;
    for (size_t i = 0; i < dag->count; i++)
        if (dag->tasks[i].omit)
            omit_member(graph, i);
    return phase;
}

/* Returns true if the task failed and its continueOn does not allow that. */
static bool has_failed(const struct workflow_dag_task *task)
{
    return (task->phase == WORKFLOW_FAILED && !task->continue_on_failed) ||
           (task->phase == WORKFLOW_ERROR && !task->continue_on_error);
}

static void end_groups(struct graph *graph)
{
    for (size_t group = 0; group < graph->group_count; group++) {
        struct json *node = workflow_node_find(&graph->pass->nodes, group_name(graph, group));
        enum workflow_phase phase = WORKFLOW_SUCCEEDED;

        for (size_t i = 0; i < graph->dag.count; i++) {
            const struct workflow_dag_task *task = &graph->dag.tasks[i];

            if (graph->members[i].group != group)
                continue;
            if (!workflow_phase_is_final(task->phase))
                phase = WORKFLOW_RUNNING;
            else if (phase == WORKFLOW_SUCCEEDED && has_failed(task))
                phase = task->phase;
        }
        if (node)
            workflow_node_set(&graph->pass->nodes, node, phase, NULL);
    }
}

/* Returns the message of the first failed child, with the child's name. If the message already
 * names a child of that child, it is returned unchanged: the names of all nested templates would
 * leave no room for the cause. */
static const char *failure_message(struct graph *graph)
{
    for (size_t i = 0; i < graph->dag.count; i++) {
        const char *name = graph->members[i].node_name;
        const struct json *node = workflow_node_find(&graph->pass->nodes, name);
        const char *why = json_get_string(node, "message", "");

        if (!has_failed(&graph->dag.tasks[i]))
            continue;
        if (strncmp(why, CHILD_PREFIX, strlen(CHILD_PREFIX)) == 0)
            return why;
        return arena_printf(graph->pass->arena, CHILD_PREFIX "%s' failed%s%.300s", name,
                            why[0] ? ": " : "", why);
    }
    return NULL;
}

/* Sets the outputs of the template from the outputs of its members. */
static int make_outputs(struct graph *graph, struct err *err)
{
    struct workflow_pass *pass = graph->pass;

    JSON_EACH (output, json_at(graph->call->template_, "outputs", "parameters", NULL)) {
        const struct json *from = json_get(output, "valueFrom");
        const char *text = json_get_string(from, "parameter", "");
        const char *value;
        int result = workflow_text_expand(pass->arena, text, workflow_scope_resolve, &graph->scope,
                                          &value, err);

        if (result < 0) {
            value = workflow_value_text(pass->arena, json_get(from, "default"));
            if (!value)
                return err_wrap(err, "output parameter '%s'", json_get_string(output, "name", ""));
            err_clear(err);
        }
        workflow_node_add_output(&pass->nodes, graph->node, json_get_string(output, "name", ""),
                                 value);
    }
    return 0;
}

struct json *workflow_run_graph(struct workflow_pass *pass, struct workflow_call *call,
                                const struct json *inputs)
{
    bool steps = workflow_template_type(call->template_) == WORKFLOW_STEPS;
    struct graph graph = {
        .pass = pass,
        .call = call,
        .steps = steps,
        .node = workflow_call_begin(pass, call, steps ? "Steps" : "DAG", WORKFLOW_RUNNING, inputs),
        .dag.fail_fast = steps || json_get_bool(json_get(call->template_, "dag"), "failFast", true),
    };
    struct err err = ERR_INIT;

    graph.scope = (struct workflow_scope){.pass = pass,
                                          .inputs = inputs,
                                          .boundary = graph.node,
                                          .template_ = call->template_,
                                          .retries = -1};
    read_members(&graph);
    enum workflow_phase phase = graph_advance(&graph);
    end_groups(&graph);
    if (phase == WORKFLOW_SUCCEEDED && make_outputs(&graph, &err) < 0)
        workflow_pass_set(pass, graph.node, WORKFLOW_ERROR, arena_strdup(pass->arena, err.message));
    else
        workflow_pass_set(pass, graph.node, phase,
                          workflow_phase_is_final(phase) ? failure_message(&graph) : NULL);
    return graph.node;
}
