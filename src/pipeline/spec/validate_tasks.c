/* Checks the tasks of a dag and the steps of a steps template: names, templates, dependencies,
 * arguments. Implements workflow_check_tasks() of validate.h. */
#include "pipeline/spec/dag.h"
#include "pipeline/spec/validate.h"
#include "pipeline/spec/workflow.h"

#include "base/mem.h"
#include "base/str.h"

static const char *const TASK_REFUSED[][2] = {
    {"templateRef", "write the template into the workflow"},
    {"inline", "write the template into spec.templates"},
    {"withSequence", "use withItems or withParam"},
    {"hooks", "use a task that depends on this one"},
    {"onExit", "use spec.onExit"},
    {NULL},
};

/* Checks that the arguments have values, and that every input of the template has a value. */
static int validate_task_arguments(struct workflow_checker *checker, const struct json *task,
                                   const char *path)
{
    const struct json *arguments = json_at(task, "arguments", "parameters", NULL);
    const char *name = json_get_string(task, "template", "");
    const struct json *inputs = json_at(workflow_find(checker, checker->templates, name).item,
                                        "inputs", "parameters", NULL);
    size_t position = 0;

    if (json_count(json_at(task, "arguments", "artifacts", NULL)))
        return err_set(checker->err, ERR_UNSUPPORTED,
                       "%s.arguments.artifacts: is not supported: there is no artifact store; pass "
                       "files on a volume, or small values as parameters",
                       path);
    JSON_EACH (argument, arguments) {
        if (!json_get(argument, "value"))
            return err_set(checker->err, ERR_INVALID,
                           "%s.arguments.parameters[%zu].value: must be given", path, position);
        position++;
    }
    JSON_EACH (input, inputs) {
        const char *wanted = json_get_string(input, "name", "");

        if (!workflow_find(checker, arguments, wanted).item && !json_get(input, "value") &&
            !json_get(input, "default"))
            return err_set(checker->err, ERR_INVALID,
                           "%s.arguments.parameters: template '%s' needs input parameter '%s', "
                           "which is not given%s",
                           path, name, wanted,
                           workflow_suggest_name(checker->arena, arguments, wanted));
    }
    return 0;
}

static int check_task(struct workflow_checker *checker, const struct json *task, const char *path)
{
    const char *name = json_get_string(task, "name", "");
    const char *template_ = json_get_string(task, "template", "");
    const struct json *items = json_get(task, "withItems");
    int result = workflow_check_refused(checker, task, path, TASK_REFUSED);

    if (result < 0)
        return result;
    if (!str_is_dns_label(name) && !name[0])
        return err_set(checker->err, ERR_INVALID, "%s.name: must be given", path);
    if (!template_[0])
        return err_set(checker->err, ERR_INVALID, "%s.template: must name a template", path);
    if (!workflow_find(checker, checker->templates, template_).item)
        return err_set(checker->err, ERR_INVALID, "%s.template: no template '%s'%s", path,
                       template_,
                       workflow_suggest_name(checker->arena, checker->templates, template_));
    if (items && items->type != JSON_NULL && items->type != JSON_ARRAY)
        return err_set(checker->err, ERR_INVALID, "%s.withItems: must be a list", path);
    return validate_task_arguments(checker, task, path);
}

/* Checks the dependencies of a task, and sets them in its task of the graph. */
static int check_dependencies(struct workflow_checker *checker, const struct json *tasks,
                              const struct json *task, const char *path,
                              struct workflow_dag_task *ret)
{
    bool depends = !str_is_empty(json_get_string(task, "depends", NULL));
    const char **names;
    size_t count;

    if (workflow_task_needs(checker->arena, task, &names, &count, checker->err) < 0)
        return err_wrap(checker->err, "%s.depends", path);
    size_t *needs = ARENA_ARRAY(checker->arena, size_t, count + 1);
    for (size_t i = 0; i < count; i++) {
        const struct workflow_match needed = workflow_find(checker, tasks, names[i]);

        if (!needed.item && depends)
            return err_set(checker->err, ERR_INVALID, "%s.depends: no task '%s'%s", path, names[i],
                           workflow_suggest_name(checker->arena, tasks, names[i]));
        if (!needed.item)
            return err_set(checker->err, ERR_INVALID, "%s.dependencies[%zu]: no task '%s'%s", path,
                           i, names[i], workflow_suggest_name(checker->arena, tasks, names[i]));
        needs[i] = needed.position;
    }
    ret->needs = needs;
    ret->need_count = count;
    return 0;
}

static int check_dag(struct workflow_checker *checker, const struct json *dag, const char *path)
{
    const struct json *tasks = json_get(dag, "tasks");
    struct workflow_dag graph = {.count = json_count(tasks)};
    size_t position = 0;

    if (!str_is_empty(json_get_string(dag, "target", NULL)))
        return err_set(checker->err, ERR_UNSUPPORTED, "%s.dag.target: is not supported", path);
    if (graph.count == 0 || tasks->type != JSON_ARRAY || graph.count > WORKFLOW_TASKS_MAX)
        return err_set(checker->err, ERR_INVALID, "%s.dag.tasks: must be a list of 1 to %d tasks",
                       path, WORKFLOW_TASKS_MAX);
    graph.tasks = ARENA_ARRAY(checker->arena, struct workflow_dag_task, graph.count);
    JSON_EACH (task, tasks) {
        const char *here = arena_printf(checker->arena, "%s.dag.tasks[%zu]", path, position);
        int result = check_task(checker, task, here);

        if (result == 0 &&
            workflow_find(checker, tasks, json_get_string(task, "name", "")).item != task)
            result = err_set(checker->err, ERR_INVALID, "%s.name: '%s' is the name of another task",
                             here, json_get_string(task, "name", ""));
        if (result == 0)
            result = check_dependencies(checker, tasks, task, here, &graph.tasks[position]);
        if (result < 0)
            return result;
        position++;
    }
    long on_cycle = workflow_dag_find_cycle(&graph);
    if (on_cycle >= 0)
        return err_set(checker->err, ERR_INVALID,
                       "%s.dag.tasks[%ld]: task '%s' depends on itself through its dependencies",
                       path, on_cycle,
                       json_get_string(json_element(tasks, (size_t)on_cycle), "name", ""));
    checker->graph = graph;
    return 0;
}

/* Sets checker->steps and returns the number of steps. */
static size_t index_steps(struct workflow_checker *checker, const struct json *steps)
{
    size_t count = 0, group_position = 0;

    map_release(&checker->steps);
    JSON_EACH (group, steps) {
        JSON_EACH (step, group) {
            const char *name = json_get_string(step, "name", "");
            struct workflow_step *known = map_get(&checker->steps, name);

            if (!known) {
                known = ARENA_NEW(checker->arena, struct workflow_step);
                *known = (struct workflow_step){.first = step, .group = group_position};
                map_put(&checker->steps, name, known);
            }
            known->last_group = group_position;
            count++;
        }
        group_position++;
    }
    return count;
}

static int check_steps(struct workflow_checker *checker, const struct json *steps, const char *path)
{
    size_t group_position = 0;

    if (steps->type != JSON_ARRAY || json_count(steps) == 0)
        return err_set(checker->err, ERR_INVALID, "%s.steps: must be a list of lists of steps",
                       path);
    if (index_steps(checker, steps) > WORKFLOW_TASKS_MAX)
        return err_set(checker->err, ERR_INVALID, "%s.steps: must have at most %d steps", path,
                       WORKFLOW_TASKS_MAX);
    JSON_EACH (group, steps) {
        size_t position = 0;

        if (group->type != JSON_ARRAY)
            return err_set(checker->err, ERR_INVALID, "%s.steps[%zu]: must be a list of steps",
                           path, group_position);
        JSON_EACH (step, group) {
            const char *here = arena_printf(checker->arena, "%s.steps[%zu][%zu]", path,
                                            group_position, position++);
            int result = check_task(checker, step, here);

            if (result < 0)
                return result;
            const struct workflow_step *same =
                map_get(&checker->steps, json_get_string(step, "name", ""));

            if (same->first != step || same->last_group != same->group)
                return err_set(checker->err, ERR_INVALID,
                               "%s.name: '%s' is the name of another step", here,
                               json_get_string(step, "name", ""));
        }
        group_position++;
    }
    return 0;
}

int workflow_check_tasks(struct workflow_checker *checker, const struct json *template_,
                         const char *path)
{
    switch (workflow_template_type(template_)) {
    case WORKFLOW_DAG:
        return check_dag(checker, json_get(template_, "dag"), path);
    case WORKFLOW_STEPS:
        return check_steps(checker, json_get(template_, "steps"), path);
    default:
        return 0;
    }
}
