/* Reads the parts of a Workflow; see workflow.h. */
#include "pipeline/spec/workflow.h"
#include "pipeline/spec/workflow_kind.h"

#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "kube/object.h"

#include <string.h>

static const char *const TYPES[] = {
    [WORKFLOW_CONTAINER] = "container", [WORKFLOW_SCRIPT] = "script",
    [WORKFLOW_RESOURCE] = "resource",   [WORKFLOW_DAG] = "dag",
    [WORKFLOW_STEPS] = "steps",
};

const struct json *workflow_find_by_name(const struct json *list, const char *name)
{
    JSON_EACH (item, list) {
        if (str_eq(json_get_string(item, "name", NULL), name))
            return item;
    }
    return NULL;
}

const struct json *workflow_template(const struct json *workflow, const char *name)
{
    return name ? workflow_find_by_name(json_at(workflow, "spec", "templates", NULL), name) : NULL;
}

int workflow_template_type(const struct json *template_)
{
    for (size_t i = 0; i < ARRAY_SIZE(TYPES); i++) {
        const struct json *body = json_get(template_, TYPES[i]);

        if (body && body->type != JSON_NULL)
            return (int)i;
    }
    return -1;
}

const char *workflow_value_text(struct arena *arena, const struct json *value)
{
    if (!value || value->type == JSON_NULL)
        return NULL;
    return value->type == JSON_STRING ? value->text : json_to_string(arena, value);
}

bool workflow_object_is_obsolete(const struct json *object)
{
    return kube_meta_is_deleting(object) ||
           str_eq(json_get_string(kube_meta_controller(object), "kind", ""),
                  WORKFLOWS_RESOURCE.kind);
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
}

/* Splits a text of the form "a && b.Succeeded && c" into task names. Parentheses are ignored. */
static int split_depends(struct arena *arena, const char *text, const char **names, size_t *count,
                         struct err *err)
{
    const char *at = text;

    for (*count = 0; *count < WORKFLOW_TASKS_MAX; (*count)++) {
        size_t size = 0;

        at += strspn(at, " \t\n(");
        while (is_name_char(at[size]))
            size++;
        if (size == 0)
            break;
        names[*count] = arena_strndup(arena, at, size);
        at += size;
        if (str_has_prefix(at, ".Succeeded"))
            at += strlen(".Succeeded");
        at += strspn(at, " \t\n)");
        if (*at == '\0') {
            (*count)++;
            return 0;
        }
        if (strncmp(at, "&&", 2) != 0)
            break;
        at += 2;
    }
    if (*count == WORKFLOW_TASKS_MAX)
        return err_set(err, ERR_INVALID, "must name at most %d tasks", WORKFLOW_TASKS_MAX);
    return err_set(err, ERR_UNSUPPORTED,
                   "'%.100s' is not supported: write task names joined by '&&', each with or "
                   "without '.Succeeded'",
                   text);
}

int workflow_task_needs(struct arena *arena, const struct json *task, const char ***ret,
                        size_t *ret_count, struct err *err)
{
    const struct json *list = json_get(task, "dependencies");
    const char *depends = json_get_string(task, "depends", NULL);
    const char **names;
    size_t count = 0;

    if (!str_is_empty(depends)) {
        names = ARENA_ARRAY(arena, const char *, WORKFLOW_TASKS_MAX);
        int result = split_depends(arena, depends, names, &count, err);

        if (result < 0)
            return result;
    } else {
        names = ARENA_ARRAY(arena, const char *, json_count(list) + 1);
        JSON_EACH (name, list) {
            if (json_text(name))
                names[count++] = json_text(name);
        }
    }
    *ret = names;
    *ret_count = count;
    return 0;
}

int workflow_parse_duration(const struct json *value, int64_t *ret_ms, struct err *err)
{
    int64_t seconds;
    const char *text = json_text(value);

    if (value && value->type == JSON_INT) {
        seconds = value->integer;
    } else if (!text) {
        return err_set(err, ERR_INVALID, "must be seconds or a duration such as \"1m30s\"");
    } else if (str_to_int64(text, 0, INT32_MAX, &seconds, NULL) < 0) {
        return moment_parse_duration(text, ret_ms, err);
    }
    if (seconds < 0 || seconds > INT32_MAX)
        return err_set(err, ERR_INVALID, "must be between 0 and %d seconds", INT32_MAX);
    *ret_ms = seconds * 1000;
    return 0;
}
