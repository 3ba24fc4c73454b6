/* Implements workflow_validate() of workflow.h, which the controller calls before it creates
 * objects for a workflow, and the functions that all checks share (validate.h). */
#include "pipeline/spec/validate.h"

#include "pipeline/spec/workflow.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const SPEC_REFUSED[][2] = {
    {"workflowTemplateRef", "write the templates into the workflow"},
    {"hooks", "use onExit"},
    {"templateDefaults", "write the values into each template"},
    {"synchronization", "there are no locks between workflows"},
    {"podSpecPatch", "write the fields into the template"},
    {"retryStrategy", "write it into each template"},
    {"podPriorityClassName", "write priorityClassName into each template"},
    {"podDisruptionBudget", "create a PodDisruptionBudget yourself"},
    {NULL},
};

/* Returns true if the value has no effect: missing, null, false, an empty list or an empty text. */
static bool is_nothing(const struct json *value)
{
    if (!value || value->type == JSON_NULL)
        return true;
    if (value->type == JSON_BOOL)
        return !value->boolean;
    return value->type == JSON_STRING ? value->size == 0
                                      : value->type == JSON_ARRAY && json_count(value) == 0;
}

int workflow_check_refused(struct workflow_checker *checker, const struct json *object,
                           const char *path, const char *const (*fields)[2])
{
    for (; (*fields)[0]; fields++)
        if (!is_nothing(json_get(object, (*fields)[0])))
            return err_set(checker->err, ERR_UNSUPPORTED, "%s.%s: is not supported: %s", path,
                           (*fields)[0], (*fields)[1]);
    return 0;
}

enum { SCANNED_MAX = 16 }; /* a list with at most so many items is searched without an index */

/* Returns the index of a list. Creates the index at the first call for the list. */
static struct map *index_list(struct workflow_checker *checker, const struct json *list)
{
    char key[32];
    snprintf(key, sizeof(key), "%p", (const void *)list);
    struct map *index = map_get(&checker->indexes, key);
    if (index)
        return index;
    size_t position = 0;
    index = mem_zalloc(sizeof(*index));
    map_put(&checker->indexes, key, index);
    JSON_EACH (item, list) {
        const char *name = json_get_string(item, "name", NULL);
        if (name && !map_get(index, name)) {
            struct workflow_match *entry = ARENA_NEW(checker->arena, struct workflow_match);
            *entry = (struct workflow_match){item, position};
            map_put(index, name, entry);
        }
        position++;
    }
    return index;
}

static void checker_release(struct workflow_checker *checker)
{
    const char *key;
    void *index;
    for (size_t i = 0; map_next(&checker->indexes, &i, &key, &index);) {
        map_release(index);
        free(index);
    }
    map_release(&checker->indexes);
    map_release(&checker->steps);
}

struct workflow_match workflow_find(struct workflow_checker *checker, const struct json *list,
                                    const char *name)
{
    if (json_count(list) > SCANNED_MAX) {
        const struct workflow_match *found = map_get(index_list(checker, list), name);
        return found ? *found : (struct workflow_match){0};
    }
    size_t position = 0;
    JSON_EACH (item, list) {
        if (str_eq(json_get_string(item, "name", NULL), name))
            return (struct workflow_match){item, position};
        position++;
    }
    return (struct workflow_match){0};
}

const char *workflow_suggest_name(struct arena *arena, const struct json *list, const char *name)
{
    const char **names = ARENA_ARRAY(arena, const char *, json_count(list) + 1);
    size_t count = 0;

    JSON_EACH (item, list) {
        const char *item_name = json_get_string(item, "name", NULL);

        if (item_name)
            names[count++] = item_name;
    }
    const char *nearest = str_nearest(name, names, count);
    return nearest ? arena_printf(arena, "; did you mean '%s'?", nearest) : "";
}

static int check_name(struct workflow_checker *checker)
{
    const char *name = kube_meta_name(checker->workflow);

    if (strlen(name) > WORKFLOW_NAME_MAX)
        return err_set(checker->err, ERR_INVALID,
                       "metadata.name: must have at most %d characters, so that the names of its "
                       "pods fit",
                       WORKFLOW_NAME_MAX);
    return 0;
}

static int check_template_name(struct workflow_checker *checker, const char *field, bool required)
{
    const char *name = json_get_string(checker->spec, field, "");

    if (!name[0] && required)
        return err_set(checker->err, ERR_INVALID, "spec.%s: must name a template", field);
    if (name[0] && !workflow_find(checker, checker->templates, name).item)
        return err_set(checker->err, ERR_INVALID, "spec.%s: no template '%s'%s", field, name,
                       workflow_suggest_name(checker->arena, checker->templates, name));
    return 0;
}

static int check_templates(struct workflow_checker *checker)
{
    size_t position = 0;

    if (!checker->templates || checker->templates->type != JSON_ARRAY ||
        json_count(checker->templates) == 0)
        return err_set(checker->err, ERR_INVALID,
                       "spec.templates: must have at least one template");
    if (json_count(checker->templates) > WORKFLOW_TEMPLATES_MAX)
        return err_set(checker->err, ERR_INVALID, "spec.templates: must have at most %d templates",
                       WORKFLOW_TEMPLATES_MAX);
    JSON_EACH (template_, checker->templates) {
        const char *name = json_get_string(template_, "name", "");

        if (!name[0])
            return err_set(checker->err, ERR_INVALID, "spec.templates[%zu].name: must be given",
                           position);
        if (workflow_find(checker, checker->templates, name).item != template_)
            return err_set(checker->err, ERR_INVALID,
                           "spec.templates[%zu].name: '%s' is the name of another template",
                           position, name);
        position++;
    }
    return 0;
}

static int validate_workflow_arguments(struct workflow_checker *checker)
{
    const struct json *arguments = json_get(checker->spec, "arguments");
    size_t position = 0;

    if (json_count(json_get(arguments, "artifacts")))
        return err_set(checker->err, ERR_UNSUPPORTED,
                       "spec.arguments.artifacts: is not supported: there is no artifact store; "
                       "pass files on a volume");
    JSON_EACH (parameter, json_get(arguments, "parameters")) {
        if (!json_get(parameter, "value") && !json_get(parameter, "default"))
            return err_set(checker->err, ERR_INVALID,
                           "spec.arguments.parameters[%zu]: '%s' has no value", position,
                           json_get_string(parameter, "name", ""));
        position++;
    }
    return 0;
}

int workflow_validate(const struct json *workflow, struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct err ignored = ERR_INIT;
    _cleanup_(checker_release) struct workflow_checker checker = {
        .arena = arena,
        .workflow = workflow,
        .spec = json_get(workflow, "spec"),
        .templates = json_at(workflow, "spec", "templates", NULL),
        .err = err ? err : &ignored,
    };
    size_t position = 0;
    int result;

    if ((result = check_name(&checker)) < 0 ||
        (result = workflow_check_refused(&checker, checker.spec, "spec", SPEC_REFUSED)) < 0 ||
        (result = check_templates(&checker)) < 0 ||
        (result = check_template_name(&checker, "entrypoint", true)) < 0 ||
        (result = check_template_name(&checker, "onExit", false)) < 0 ||
        (result = validate_workflow_arguments(&checker)) < 0)
        return result;
    JSON_EACH (template_, checker.templates) {
        const char *path = arena_printf(arena, "spec.templates[%zu]", position++);

        if ((result = workflow_check_template(&checker, template_, path)) < 0 ||
            (result = workflow_check_tasks(&checker, template_, path)) < 0 ||
            (result = workflow_check_references(&checker, template_, path)) < 0)
            return result;
    }
    return 0;
}
