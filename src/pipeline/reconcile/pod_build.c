/* Builds the pod of a container or script template: the template with its references replaced, and
 * the labels of the workflow. If the step has output files or a script, an init container copies
 * the step wrapper into the pod, because the image of the step need not contain it. */
#include "pipeline/reconcile/reconcile_internal.h"
#include "pipeline/spec/text.h"
#include "pipeline/spec/workflow.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "kube/pod_container.h"
#include "kube/step_wrapper.h"

#include <string.h>

#define STEP_IMAGE "trainyard/step"
#define SCRIPT_ENV "TRAINYARD_SCRIPT"

/* Fields of the template, or else of the workflow, that are copied into the pod's spec. */
static const char *const SPEC_FIELDS[] = {
    "affinity",         "automountServiceAccountToken",
    "dnsConfig",        "dnsPolicy",
    "hostAliases",      "hostNetwork",
    "imagePullSecrets", "nodeSelector",
    "priority",         "priorityClassName",
    "runtimeClassName", "schedulerName",
    "securityContext",  "serviceAccountName",
    "tolerations",
};

/* A pod under construction. */
struct builder {
    struct workflow_pass *pass;
    struct arena *arena;
    struct json *template_; /* the template with its references replaced */
    struct json *pod, *spec;
    struct json *container; /* the container "main" */
    bool script;            /* the template is a script template */
};

/* Returns the volume of the template, or else of the workflow; NULL: neither has it. */
static const struct json *find_volume(const struct builder *b, const char *name)
{
    const struct json *found = workflow_find_by_name(json_get(b->template_, "volumes"), name);

    return found ? found : workflow_find_by_name(json_get(b->pass->spec, "volumes"), name);
}

/* Makes a volume for one of the workflow's volumeClaimTemplates. Returns NULL if none has this
 * name. */
static struct json *claim_volume(const struct builder *b, const char *name)
{
    JSON_EACH (claim, json_get(b->pass->spec, "volumeClaimTemplates")) {
        if (!str_eq(kube_meta_name(claim), name))
            continue;
        struct json *volume = json_object(b->arena);
        json_set_string(b->arena, volume, "name", name);
        struct json *source = json_ensure_object(b->arena, volume, "persistentVolumeClaim");
        json_set(b->arena, source, "claimName",
                 json_stringf(b->arena, "%s-%s", b->pass->name, name));
        return volume;
    }
    return NULL;
}

/* Adds the volumes that the container mounts. The workflow may have volumes that this step does not
 * use. */
static int add_volumes(struct builder *b, struct workflow_scope *scope,
                       const struct json *container, struct err *err)
{
    JSON_EACH (mount, json_get(container, "volumeMounts")) {
        const char *name = json_get_string(mount, "name", "");
        const struct json *found = find_volume(b, name);
        struct json *volume = found ? NULL : claim_volume(b, name);
        struct json *volumes = json_ensure_array(b->arena, b->spec, "volumes");
        int result = 0;

        if (workflow_find_by_name(volumes, name))
            continue;
        if (found)
            result =
                workflow_tree_expand(b->arena, found, workflow_scope_resolve, scope, &volume, err);
        else if (!volume)
            result = err_set(err, ERR_INVALID,
                             "volumeMount '%s': neither the template nor the workflow has a volume "
                             "with this name",
                             name);
        if (result < 0)
            return result;
        json_append(volumes, volume);
    }
    return 0;
}

static void add_metadata(struct builder *b, const struct json *from)
{
    static const char *const maps[] = {"labels", "annotations"};

    for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
        JSON_EACH (entry, json_get(from, maps[i])) {
            const char *text = json_text(entry);

            if (text && i == 0)
                kube_meta_set_label(b->arena, b->pod, entry->name, text);
            else if (text)
                kube_meta_set_annotation(b->arena, b->pod, entry->name, text);
        }
    }
}

static void add_spec_fields(struct builder *b)
{
    for (size_t i = 0; i < ARRAY_SIZE(SPEC_FIELDS); i++) {
        const struct json *value = json_get(b->template_, SPEC_FIELDS[i]);

        if (!value)
            value = json_get(b->pass->spec, SPEC_FIELDS[i]);
        if (value && value->type != JSON_NULL)
            json_set(b->arena, b->spec, SPEC_FIELDS[i], json_clone(b->arena, value));
    }
    json_set_string(b->arena, b->spec, "restartPolicy", "Never");
}

static struct json *step_wrapper_mount(struct builder *b)
{
    struct json *mount = json_object(b->arena);

    json_set_string(b->arena, mount, "name", STEP_WRAPPER_VOLUME);
    json_set_string(b->arena, mount, "mountPath", STEP_WRAPPER_DIRECTORY);
    return mount;
}

static void append_text(struct builder *b, struct json *list, const char *text)
{
    json_append(list, json_string(b->arena, text));
}

/* Doubles the dollar signs of a script, because Kubernetes expands $(NAME) in values and replaces
 * "$$" by "$". */
static const char *escape_dollars(struct arena *arena, const char *text)
{
    char *out = arena_alloc(arena, 2 * strlen(text) + 1), *at = out;

    for (; *text; text++) {
        if (*text == '$')
            *at++ = '$';
        *at++ = *text;
    }
    *at = '\0';
    return out;
}

/* Adds the init container that puts the wrapper and the script into a volume of the pod. */
static void add_step_wrapper(struct builder *b)
{
    struct json *init = json_object(b->arena), *volume = json_object(b->arena);
    struct json *args = json_array(b->arena);
    struct json *inits = json_ensure_array(b->arena, b->spec, "initContainers");
    const char *source = json_get_string(b->container, "source", "");

    json_set_string(b->arena, volume, "name", STEP_WRAPPER_VOLUME);
    json_ensure_object(b->arena, volume, "emptyDir");
    json_append(json_ensure_array(b->arena, b->spec, "volumes"), volume);

    json_set_string(b->arena, init, "name", "init");
    json_set_string(b->arena, init, "image",
                    b->pass->observed->step_image ? b->pass->observed->step_image : STEP_IMAGE);
    append_text(b, args, "install");
    append_text(b, args, STEP_WRAPPER_PROGRAM);
    if (b->script) {
        struct json *variable = json_object(b->arena);

        append_text(b, args, STEP_WRAPPER_SCRIPT);
        json_set_string(b->arena, variable, "name", SCRIPT_ENV);
        json_set_string(b->arena, variable, "value", escape_dollars(b->arena, source));
        json_append(json_ensure_array(b->arena, init, "env"), variable);
    }
    json_set(b->arena, init, "args", args);
    json_append(json_ensure_array(b->arena, init, "volumeMounts"), step_wrapper_mount(b));
    json_append(inits, init);
    json_append(json_ensure_array(b->arena, b->container, "volumeMounts"), step_wrapper_mount(b));
}

/* Lets the step wrapper run the command and put the output files into the termination message. */
static void wrap_command(struct builder *b, const struct json *outputs)
{
    struct json *command = json_array(b->arena);
    const char *log = json_get_string(b->container, "terminationMessagePath", KUBE_MESSAGE_PATH);

    append_text(b, command, STEP_WRAPPER_PROGRAM);
    append_text(b, command, STEP_WRAPPER_OUTPUT);
    append_text(b, command, log);
    JSON_EACH (output, outputs) {
        const char *path = json_get_string(json_get(output, "valueFrom"), "path", NULL);

        if (path)
            json_append(command,
                        json_stringf(b->arena, "%s=%s", json_get_string(output, "name", ""), path));
    }
    append_text(b, command, "--");
    JSON_EACH (word, json_get(b->container, "command")) {
        json_append(command, json_clone(b->arena, word));
    }
    json_set(b->arena, b->container, "command", command);
}

static void build_container(struct builder *b)
{
    const struct json *outputs = json_at(b->template_, "outputs", "parameters", NULL);
    bool wrap = json_count(outputs) > 0;

    json_set_string(b->arena, b->container, "name", "main");
    if (b->script)
        append_text(b, json_ensure_array(b->arena, b->container, "command"), STEP_WRAPPER_SCRIPT);
    if (wrap)
        wrap_command(b, outputs);
    if (wrap || b->script)
        add_step_wrapper(b);
    json_remove(b->container, "source");
}

/* Adds the template's initContainers. */
static int build_inits(struct builder *b, struct workflow_scope *scope, struct err *err)
{
    JSON_EACH (given, json_get(b->template_, "initContainers")) {
        struct json *init = json_clone(b->arena, given);
        bool mirror = json_get_bool(init, "mirrorVolumeMounts", false);

        json_remove(init, "mirrorVolumeMounts");
        if (mirror) {
            JSON_EACH (mount, json_get(b->container, "volumeMounts")) {
                json_append(json_ensure_array(b->arena, init, "volumeMounts"),
                            json_clone(b->arena, mount));
            }
        }
        int result = add_volumes(b, scope, init, err);
        if (result < 0)
            return result;
        json_append(json_ensure_array(b->arena, b->spec, "initContainers"), init);
    }
    return 0;
}

static void builder_add_identity(struct builder *b, const struct workflow_call *call,
                                 const char *name)
{
    b->pod = kube_object_make(b->arena, &KUBE_PODS, b->pass->namespace_, name);
    b->spec = json_ensure_object(b->arena, b->pod, "spec");
    add_metadata(b, json_get(b->pass->spec, "podMetadata"));
    add_metadata(b, json_get(b->template_, "metadata"));
    kube_meta_set_label(b->arena, b->pod, WORKFLOW_LABEL, b->pass->name);
    kube_meta_set_label(b->arena, b->pod, WORKFLOW_COMPLETED_LABEL, "false");
    kube_meta_set_annotation(b->arena, b->pod, WORKFLOW_NODE_NAME_ANNOTATION, call->name);
    kube_meta_set_annotation(b->arena, b->pod, "kubectl.kubernetes.io/default-container", "main");
    kube_meta_add_owner(b->arena, b->pod,
                        kube_owner_reference_new(b->arena, b->pass->workflow, true));
}

int workflow_pod_build(struct workflow_pass *pass, const struct workflow_call *call,
                       const struct json *inputs, struct json **ret, struct err *err)
{
    const char *name = workflow_node_id(pass->arena, pass->name, call->name);
    struct workflow_scope scope = {
        .pass = pass, .inputs = inputs, .pod_name = name, .retries = call->attempt};
    struct builder b = {.pass = pass,
                        .arena = pass->arena,
                        .script = workflow_template_type(call->template_) == WORKFLOW_SCRIPT};
    int result = workflow_tree_expand(pass->arena, call->template_, workflow_scope_resolve, &scope,
                                      &b.template_, err);

    if (result < 0)
        return result;
    builder_add_identity(&b, call, name);
    add_spec_fields(&b);
    b.container = json_clone(b.arena, json_get(b.template_, b.script ? "script" : "container"));
    result = add_volumes(&b, &scope, b.container, err);
    if (result < 0)
        return result;
    result = build_inits(&b, &scope, err);
    if (result < 0)
        return result;
    build_container(&b);
    json_append(json_ensure_array(b.arena, b.spec, "containers"), b.container);
    *ret = b.pod;
    return 0;
}
