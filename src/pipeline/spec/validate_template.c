/* Checks a template: it has a type, its fields are supported, and its outputs have a source.
 * Implements workflow_check_template() of validate.h. */
#include "pipeline/spec/condition.h"
#include "pipeline/spec/validate.h"
#include "pipeline/spec/workflow.h"

#include "base/mem.h"
#include "base/str.h"

#define NO_STORE "there is no artifact store; pass files on a volume, or small values as parameters"

static const char *const TEMPLATE_REFUSED[][2] = {
    {"suspend", "set spec.suspend to hold the whole workflow"},
    {"data", "transform the data in a script"},
    {"http", "use a container with curl"},
    {"plugin", "there are no plugins"},
    {"containerSet", "use one container per template"},
    {"sidecars", "run what a step needs in its own container"},
    {"daemon", "run the server as a Deployment or a pod of its own"},
    {"synchronization", "there are no locks between workflows"},
    {"podSpecPatch", "write the fields into the template"},
    {"timeout", "use activeDeadlineSeconds"},
    {"templateRef", "write the template into the workflow"},
    {NULL},
};

static const char *const RESOURCE_REFUSED[][2] = {
    {"flags", "steps do not run kubectl"},
    {"manifestFrom", "write the manifest as text"},
    {NULL},
};

static const char *const RETRY_REFUSED[][2] = {
    {"expression", "use retryPolicy"},
    {NULL},
};

static bool template_is_one_of(const char *text, const char *const *texts)
{
    for (; *texts; texts++)
        if (str_eq(text, *texts))
            return true;
    return false;
}

static int check_duration(struct workflow_checker *checker, const struct json *object,
                          const char *field, const char *path)
{
    const struct json *value = json_get(object, field);
    int64_t ms;

    if (!value || value->type == JSON_NULL ||
        workflow_parse_duration(value, &ms, checker->err) == 0)
        return 0;
    return err_wrap(checker->err, "%s.%s", path, field);
}

static int check_retry(struct workflow_checker *checker, const struct json *template_,
                       const char *path)
{
    static const char *const policies[] = {"Always", "OnFailure", "OnError", "OnTransientError",
                                           NULL};
    const struct json *retry = json_get(template_, "retryStrategy");
    const struct json *limit = json_get(retry, "limit"), *backoff = json_get(retry, "backoff");
    const char *policy = json_get_string(retry, "retryPolicy", NULL);
    const char *here = arena_printf(checker->arena, "%s.retryStrategy", path);
    int64_t number = 0;
    int result = workflow_check_refused(checker, retry, here, RETRY_REFUSED);

    if (result < 0)
        return result;
    if (limit && limit->type == JSON_INT)
        number = limit->integer;
    else if (limit && str_to_int64(json_text(limit) ? json_text(limit) : "", 0, INT32_MAX, &number,
                                   NULL) < 0)
        number = -1;
    if (number < 0)
        return err_set(checker->err, ERR_INVALID, "%s.limit: must be a number, 0 or greater", here);
    if (policy && !template_is_one_of(policy, policies))
        return err_set(checker->err, ERR_INVALID,
                       "%s.retryPolicy: must be Always, OnFailure, OnError or OnTransientError, is "
                       "\"%s\"",
                       here, policy);
    result = check_duration(checker, backoff, "duration", here);
    return result < 0 ? result : check_duration(checker, backoff, "maxDuration", here);
}

static int check_container(struct workflow_checker *checker, const struct json *template_,
                           const char *path, const char *type)
{
    const struct json *container = json_get(template_, type);
    bool outputs = json_count(json_at(template_, "outputs", "parameters", NULL)) > 0;
    bool script = str_eq(type, "script");

    if (container->type != JSON_OBJECT)
        return err_set(checker->err, ERR_INVALID, "%s.%s: must be an object", path, type);
    if (str_is_empty(json_get_string(container, "image", NULL)))
        return err_set(checker->err, ERR_INVALID, "%s.%s.image: must be given", path, type);
    if (script && str_is_empty(json_get_string(container, "source", NULL)))
        return err_set(checker->err, ERR_INVALID, "%s.script.source: must be given", path);
    if ((outputs || script) && json_count(json_get(container, "command")) == 0)
        return err_set(
            checker->err, ERR_INVALID,
            "%s.%s.command: must be given %s, because the command of the image is not known", path,
            type, script ? "for a script" : "if outputs come from files");
    return 0;
}

static int check_resource(struct workflow_checker *checker, const struct json *template_,
                          const char *path)
{
    static const char *const actions[] = {"create", "apply", "patch", "get", "delete", NULL};
    const struct json *resource = json_get(template_, "resource");
    const char *here = arena_printf(checker->arena, "%s.resource", path);
    const char *action = json_get_string(resource, "action", "");
    const char *merge = json_get_string(resource, "mergeStrategy", "merge");
    const char *const conditions[] = {"successCondition", "failureCondition"};
    int result = workflow_check_refused(checker, resource, here, RESOURCE_REFUSED);

    if (result < 0)
        return result;
    if (!template_is_one_of(action, actions))
        return err_set(checker->err, ERR_INVALID,
                       "%s.action: must be create, apply, patch, get or delete, is \"%s\"", here,
                       action);
    if (str_is_empty(json_get_string(resource, "manifest", NULL)))
        return err_set(checker->err, ERR_INVALID, "%s.manifest: must be given", here);
    if (str_eq(action, "patch") && !str_eq(merge, "merge"))
        return err_set(checker->err, ERR_UNSUPPORTED,
                       "%s.mergeStrategy: must be merge; others are not supported", here);
    for (size_t i = 0; i < ARRAY_SIZE(conditions); i++) {
        const char *text = json_get_string(resource, conditions[i], NULL);
        bool holds;

        if (!str_is_empty(text) &&
            workflow_condition_eval_object(checker->arena, text, NULL, &holds, checker->err) < 0)
            return err_wrap(checker->err, "%s.%s", here, conditions[i]);
    }
    return 0;
}

/* Checks the sources of outputs. The allowed sources depend on the template's type. */
static int check_outputs(struct workflow_checker *checker, const struct json *template_,
                         const char *path, int type)
{
    static const char *const sources[] = {
        [WORKFLOW_CONTAINER] = "path",    [WORKFLOW_SCRIPT] = "path",
        [WORKFLOW_RESOURCE] = "jsonPath", [WORKFLOW_DAG] = "parameter",
        [WORKFLOW_STEPS] = "parameter",
    };
    size_t position = 0;

    JSON_EACH (output, json_at(template_, "outputs", "parameters", NULL)) {
        const struct json *from = json_get(output, "valueFrom");
        const char *here =
            arena_printf(checker->arena, "%s.outputs.parameters[%zu]", path, position++);

        if (str_is_empty(json_get_string(output, "name", NULL)))
            return err_set(checker->err, ERR_INVALID, "%s.name: must be given", here);
        if (!str_is_empty(json_get_string(output, "globalName", NULL)))
            return err_set(checker->err, ERR_UNSUPPORTED,
                           "%s.globalName: is not supported: pass the value through the outputs of "
                           "the calling template",
                           here);
        if (str_is_empty(json_get_string(from, sources[type], NULL)))
            return err_set(checker->err, ERR_INVALID, "%s.valueFrom.%s: must be given", here,
                           sources[type]);
    }
    return 0;
}

static int check_inputs(struct workflow_checker *checker, const struct json *template_,
                        const char *path)
{
    const struct json *artifacts = json_at(template_, "inputs", "artifacts", NULL);
    size_t position = 0;

    if (json_count(artifacts))
        return err_set(checker->err, ERR_UNSUPPORTED,
                       "%s.inputs.artifacts[0]: artifact '%s' is not supported: " NO_STORE, path,
                       json_get_string(json_first(artifacts), "name", ""));
    JSON_EACH (input, json_at(template_, "inputs", "parameters", NULL)) {
        if (str_is_empty(json_get_string(input, "name", NULL)))
            return err_set(checker->err, ERR_INVALID,
                           "%s.inputs.parameters[%zu].name: must be given", path, position);
        if (json_get(input, "valueFrom"))
            return err_set(checker->err, ERR_UNSUPPORTED,
                           "%s.inputs.parameters[%zu].valueFrom: is not supported: pass the value "
                           "as an argument",
                           path, position);
        position++;
    }
    return 0;
}

int workflow_check_template(struct workflow_checker *checker, const struct json *template_,
                            const char *path)
{
    int type = workflow_template_type(template_);
    int result = workflow_check_refused(checker, template_, path, TEMPLATE_REFUSED);

    if (result < 0)
        return result;
    if (type < 0)
        return err_set(checker->err, ERR_INVALID,
                       "%s: template '%s' must have one of container, script, resource, dag, steps",
                       path, json_get_string(template_, "name", ""));
    if ((result = check_inputs(checker, template_, path)) < 0 ||
        (result = check_outputs(checker, template_, path, type)) < 0 ||
        (result = check_retry(checker, template_, path)) < 0 ||
        (result = check_duration(checker, template_, "activeDeadlineSeconds", path)) < 0)
        return result;
    if (type == WORKFLOW_CONTAINER || type == WORKFLOW_SCRIPT)
        return check_container(checker, template_, path,
                               type == WORKFLOW_SCRIPT ? "script" : "container");
    return type == WORKFLOW_RESOURCE ? check_resource(checker, template_, path) : 0;
}
