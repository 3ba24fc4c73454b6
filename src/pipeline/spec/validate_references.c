/* Checks references before the workflow runs: each must name a value that can exist when the
 * reference is resolved. Labels, annotations and members of items are not checked. Implements
 * workflow_check_references() of validate.h. */
#include "pipeline/spec/text.h"
#include "pipeline/spec/validate.h"
#include "pipeline/spec/workflow.h"

#include "base/mem.h"
#include "base/str.h"

#include <string.h>

/* The place of the text that is being checked. */
struct context {
    struct workflow_checker *checker;
    const struct json *template_;
    const struct json *task; /* the task or step with the text; NULL: the text is in neither */
    size_t position;         /* for a dag: the position of `task` */
    size_t group;            /* for a step: its group */
    uint64_t **ancestors; /* for each task of a dag: one bit per task that must end before it; NULL:
                             not computed yet */
};

static const char *reference_fail(const char *reference, const char *why, struct err *err)
{
    (void)err_set(err, ERR_INVALID, "'{{%s}}': %s", reference, why);
    return NULL;
}

/* The following functions check one reference for workflow_tree_expand(): they return "" for a
 * valid reference, and NULL with an error for an invalid one. */

/* The name must be in a list of {name: …}. */
static const char *check_listed(struct context *context, const struct json *list, const char *name,
                                const char *reference, const char *what, struct err *err)
{
    struct arena *arena = context->checker->arena;

    if (workflow_find(context->checker, list, name).item)
        return "";
    return reference_fail(
        reference,
        arena_printf(arena, "no %s '%s'%s", what, name, workflow_suggest_name(arena, list, name)),
        err);
}

/* Returns the tasks that a task depends on, directly or indirectly, as one bit each. The graph has
 * no cycle. */
static const uint64_t *ancestors_of(struct context *context, size_t position)
{
    const struct workflow_dag *graph = &context->checker->graph;
    const struct workflow_dag_task *task = &graph->tasks[position];
    struct arena *arena = context->checker->arena;
    size_t words = graph->count / 64 + 1;

    if (!context->ancestors)
        context->ancestors = ARENA_ARRAY(arena, uint64_t *, graph->count);
    if (context->ancestors[position])
        return context->ancestors[position];
    uint64_t *bits = ARENA_ARRAY(arena, uint64_t, words);
    for (size_t i = 0; i < task->need_count; i++) {
        const uint64_t *more = ancestors_of(context, task->needs[i]);

        bits[task->needs[i] / 64] |= UINT64_C(1) << task->needs[i] % 64;
        for (size_t word = 0; word < words; word++)
            bits[word] |= more[word];
    }
    return context->ancestors[position] = bits;
}

/* Finds a task by name. Returns NULL if the current task does not depend on it, directly or
 * indirectly. In texts outside the tasks, such as the outputs of the template, any task is valid.
 */
static const struct json *find_earlier_task(struct context *context, const char *name)
{
    const struct json *tasks = json_at(context->template_, "dag", "tasks", NULL);
    const struct workflow_match found = workflow_find(context->checker, tasks, name);

    if (!found.item || !context->task)
        return found.item;
    const uint64_t *bits = ancestors_of(context, context->position);
    return bits[found.position / 64] >> found.position % 64 & 1 ? found.item : NULL;
}

/* Like find_earlier_task(), for the steps of a group before the current group. */
static const struct json *find_earlier_step(struct context *context, const char *name)
{
    const struct workflow_step *step = map_get(&context->checker->steps, name);

    return step && (!context->task || step->group < context->group) ? step->first : NULL;
}

/* Checks "NAME.outputs.parameters.P", "NAME.status" or "NAME.id" of another task or step. */
static const char *check_sibling(struct context *context, const char *rest, bool step,
                                 const char *reference, struct err *err)
{
    static const char outputs[] = ".outputs.parameters.";
    struct workflow_checker *checker = context->checker;
    size_t size = strcspn(rest, ".");
    const char *name = arena_strndup(checker->arena, rest, size);
    int type = workflow_template_type(context->template_);
    const struct json *sibling = step && type == WORKFLOW_STEPS  ? find_earlier_step(context, name)
                                 : !step && type == WORKFLOW_DAG ? find_earlier_task(context, name)
                                                                 : NULL;

    if (!sibling)
        return reference_fail(reference,
                              arena_printf(checker->arena,
                                           "no %s '%s' always ends before this reference is used%s",
                                           step ? "step" : "task", name,
                                           step ? "" : "; if it exists, add it to dependencies"),
                              err);
    rest += size;
    if (str_eq(rest, ".status") || str_eq(rest, ".id"))
        return "";
    if (!str_has_prefix(rest, outputs))
        return reference_fail(reference, "only outputs.parameters, status and id are supported",
                              err);
    return check_listed(
        context,
        json_at(workflow_find(checker, checker->templates, json_get_string(sibling, "template", ""))
                    .item,
                "outputs", "parameters", NULL),
        rest + strlen(outputs), reference, "output parameter", err);
}

static const char *check_workflow(struct context *context, const char *name, const char *reference,
                                  struct err *err)
{
    static const char *const known[] = {
        "name",           "namespace",         "uid",    "serviceAccountName",
        "mainEntrypoint", "creationTimestamp", "status", "parameters"};

    for (size_t i = 0; i < ARRAY_SIZE(known); i++)
        if (str_eq(known[i], name))
            return "";
    if (str_has_prefix(name, "labels.") || str_has_prefix(name, "annotations."))
        return "";
    if (str_has_prefix(name, "parameters."))
        return check_listed(context,
                            json_at(context->checker->spec, "arguments", "parameters", NULL),
                            name + strlen("parameters."), reference, "parameter", err);
    const char *nearest = str_nearest(name, known, ARRAY_SIZE(known));
    return reference_fail(
        reference,
        nearest ? arena_printf(context->checker->arena,
                               "there is no such value; did you mean 'workflow.%s'?", nearest)
                : "there is no such value",
        err);
}

static const char *check_reference(void *pointer, const char *reference, struct err *err)
{
    struct context *context = pointer;
    bool looped = context->task &&
                  (json_get(context->task, "withItems") || json_get(context->task, "withParam"));

    if (str_has_prefix(reference, "workflow."))
        return check_workflow(context, reference + strlen("workflow."), reference, err);
    if (str_has_prefix(reference, "inputs.parameters."))
        return check_listed(context, json_at(context->template_, "inputs", "parameters", NULL),
                            reference + strlen("inputs.parameters."), reference, "input parameter",
                            err);
    if (str_has_prefix(reference, "tasks."))
        return check_sibling(context, reference + strlen("tasks."), false, reference, err);
    if (str_has_prefix(reference, "steps."))
        return check_sibling(context, reference + strlen("steps."), true, reference, err);
    if (str_eq(reference, "item") || str_has_prefix(reference, "item."))
        return looped
                   ? ""
                   : reference_fail(reference, "the task has neither withItems nor withParam", err);
    if (str_eq(reference, "retries"))
        return json_get(context->template_, "retryStrategy")
                   ? ""
                   : reference_fail(reference, "the template has no retryStrategy", err);
    if (str_eq(reference, "pod.name") || str_eq(reference, "inputs.parameters"))
        return "";
    return reference_fail(reference, "there is no such value", err);
}

static int check_tree(struct context *context, const struct json *tree, const char *path)
{
    struct json *ignored;

    if (!tree || workflow_tree_expand(context->checker->arena, tree, check_reference, context,
                                      &ignored, context->checker->err) == 0)
        return 0;
    return err_wrap(context->checker->err, "%s", path);
}

static int check_dag(struct context *context, const char *path)
{
    context->position = 0;
    JSON_EACH (task, json_at(context->template_, "dag", "tasks", NULL)) {
        context->task = task;
        int result = check_tree(
            context, task,
            arena_printf(context->checker->arena, "%s.dag.tasks[%zu]", path, context->position));
        if (result < 0)
            return result;
        context->position++;
    }
    return 0;
}

static int check_steps(struct context *context, const char *path)
{
    context->group = 0;
    JSON_EACH (group, json_get(context->template_, "steps")) {
        size_t position = 0;

        JSON_EACH (step, group) {
            context->task = step;
            int result = check_tree(context, step,
                                    arena_printf(context->checker->arena, "%s.steps[%zu][%zu]",
                                                 path, context->group, position++));
            if (result < 0)
                return result;
        }
        context->group++;
    }
    return 0;
}

int workflow_check_references(struct workflow_checker *checker, const struct json *template_,
                              const char *path)
{
    struct context context = {.checker = checker, .template_ = template_};
    int result;

    /* The texts of the template itself. The texts of its tasks are checked below. */
    JSON_EACH (member, template_) {
        if (str_eq(member->name, "dag") || str_eq(member->name, "steps"))
            continue;
        result =
            check_tree(&context, member, arena_printf(checker->arena, "%s.%s", path, member->name));
        if (result < 0)
            return result;
    }
    switch (workflow_template_type(template_)) {
    case WORKFLOW_DAG:
        return check_dag(&context, path);
    case WORKFLOW_STEPS:
        return check_steps(&context, path);
    default:
        return 0;
    }
}
