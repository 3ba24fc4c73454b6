/* References before the run: each must name something that will be there when its time comes. */
#include "pipeline/text.h"
#include "pipeline/validate.h"
#include "pipeline/workflow.h"

#include "base/mem.h"
#include "base/str.h"

#include <string.h>

struct context {
    struct workflow_checker *checker;
    const struct json *template_;
    const struct json *task; /* whose text it is, or NULL: the template's own */
    size_t group;            /* of a step */
};

static const char *fail(const char *reference, const char *why, struct err *err)
{
    (void)err_set(err, ERR_INVALID, "'{{%s}}': %s", reference, why);
    return NULL;
}

static const char *check_listed(struct context *context, const struct json *list, const char *name,
                                const char *reference, const char *what, struct err *err)
{
    struct arena *arena = context->checker->arena;

    if (workflow_named(list, name))
        return "";
    return fail(reference,
                arena_printf(arena, "no %s '%s'%s", what, name, workflow_guess(arena, list, name)),
                err);
}

/* Whether `task` waits for the one of that name, itself or over others. Each task is looked at
 * once: `seen` lists the members of the graph that were. */
static bool waits_for(struct context *context, const struct json *task, const char *name,
                      struct json *seen)
{
    const struct json *tasks = json_at(context->template_, "dag", "tasks", NULL);
    struct arena *arena = context->checker->arena;
    const char **needs;
    size_t count;

    if (!task || json_get(seen, json_get_string(task, "name", "")) ||
        workflow_task_needs(arena, task, &needs, &count, NULL) < 0)
        return false;
    json_set_bool(arena, seen, json_get_string(task, "name", ""), true);
    for (size_t i = 0; i < count; i++)
        if (str_eq(needs[i], name) ||
            waits_for(context, workflow_named(tasks, needs[i]), name, seen))
            return true;
    return false;
}

/* A task that is surely over when the context's begins; any task, where the template's outputs ask.
 */
static const struct json *find_earlier_task(struct context *context, const char *name)
{
    const struct json *tasks = json_at(context->template_, "dag", "tasks", NULL);

    if (context->task &&
        !waits_for(context, context->task, name, json_object(context->checker->arena)))
        return NULL;
    return workflow_named(tasks, name);
}

static const struct json *find_earlier_step(struct context *context, const char *name)
{
    size_t position = 0;

    JSON_EACH (group, json_get(context->template_, "steps")) {
        const struct json *found = workflow_named(group, name);

        if (found && (!context->task || position < context->group))
            return found;
        position++;
    }
    return NULL;
}

static const char *check_sibling(struct context *context, const char *rest, bool step,
                                 const char *reference, struct err *err)
{
    static const char outputs[] = ".outputs.parameters.";
    struct workflow_checker *checker = context->checker;
    size_t size = strcspn(rest, ".");
    const char *name = arena_strndup(checker->arena, rest, size);
    const struct json *sibling =
        step ? find_earlier_step(context, name) : find_earlier_task(context, name);

    if (!sibling)
        return fail(reference,
                    arena_printf(checker->arena, "%s '%s' is not one that has ended before%s",
                                 step ? "step" : "task", name,
                                 step ? "" : "; name it in dependencies"),
                    err);
    rest += size;
    if (str_eq(rest, ".status") || str_eq(rest, ".id"))
        return "";
    if (!str_has_prefix(rest, outputs))
        return fail(reference, "only outputs.parameters, status and id are supported", err);
    return check_listed(
        context,
        json_at(workflow_named(checker->templates, json_get_string(sibling, "template", "")),
                "outputs", "parameters", NULL),
        rest + strlen(outputs), reference, "output parameter", err);
}

static const char *check_workflow(struct context *context, const char *name, const char *reference,
                                  struct err *err)
{
    static const char *const known[] = {
        "name",           "namespace",         "uid",    "serviceAccountName",
        "mainEntrypoint", "creationTimestamp", "status", "parameters"};
    const char *nearest;

    for (size_t i = 0; i < ARRAY_SIZE(known); i++)
        if (str_eq(known[i], name))
            return "";
    if (str_has_prefix(name, "labels.") || str_has_prefix(name, "annotations."))
        return "";
    if (str_has_prefix(name, "parameters."))
        return check_listed(context,
                            json_at(context->checker->spec, "arguments", "parameters", NULL),
                            name + strlen("parameters."), reference, "parameter", err);
    nearest = str_nearest(name, known, ARRAY_SIZE(known));
    return fail(reference,
                nearest
                    ? arena_printf(context->checker->arena,
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
        return looped ? "" : fail(reference, "the task has neither withItems nor withParam", err);
    if (str_eq(reference, "retries"))
        return json_get(context->template_, "retryStrategy")
                   ? ""
                   : fail(reference, "the template has no retryStrategy", err);
    if (str_eq(reference, "pod.name") || str_eq(reference, "inputs.parameters"))
        return "";
    return fail(reference, "there is no such value", err);
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
    size_t position = 0;

    JSON_EACH (task, json_at(context->template_, "dag", "tasks", NULL)) {
        context->task = task;
        int result = check_tree(
            context, task,
            arena_printf(context->checker->arena, "%s.dag.tasks[%zu]", path, position++));
        if (result < 0)
            return result;
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

    /* The template's own texts, member by member; those of its tasks are theirs. */
    JSON_EACH (member, template_) {
        if (str_eq(member->name, "dag") || str_eq(member->name, "steps"))
            continue;
        result =
            check_tree(&context, member, arena_printf(checker->arena, "%s.%s", path, member->name));
        if (result < 0)
            return result;
    }
    result = check_dag(&context, path);
    return result < 0 ? result : check_steps(&context, path);
}
