/* Builds a pod of a job from the template, with a finalizer, the job as owner and, for an indexed
 * job, the index in the name, labels and environment. Pure. */
#include "engine/controllers/job/internal.h"

#include "base/str.h"
#include "kube/object.h"

#include <inttypes.h>
#include <string.h>

enum { GENERATE_MAX = 63 - 5 }; /* the server appends five characters */

static void job_pod_copy_member(struct arena *arena, struct json *target, const struct json *source,
                                const char *name)
{
    const struct json *value = json_get(source, name);
    if (value && value->type != JSON_NULL)
        json_set(arena, target, name, json_clone(arena, value));
}

/* Adds the index to the container's environment, unless the template sets the variable. */
static void add_index_variable(struct arena *arena, struct json *container)
{
    JSON_EACH (given, json_get(container, "env")) {
        if (str_eq(json_get_string(given, "name", NULL), "JOB_COMPLETION_INDEX"))
            return;
    }
    struct json *variable = json_object(arena);
    json_set_string(arena, variable, "name", "JOB_COMPLETION_INDEX");
    struct json *field =
        json_ensure_object(arena, json_ensure_object(arena, variable, "valueFrom"), "fieldRef");
    json_set_string(arena, field, "fieldPath", "metadata.annotations['" JOB_INDEX_KEY "']");
    json_append(json_ensure_array(arena, container, "env"), variable);
}

static void set_index(struct arena *arena, struct json *pod, const struct job_spec *spec,
                      int64_t index)
{
    static const char *const lists[] = {"initContainers", "containers"};
    const char *text = arena_printf(arena, "%" PRId64, index);
    const char *suffix = arena_printf(arena, "-%s-", text);
    struct json *pod_spec = json_ensure_object(arena, pod, "spec");
    kube_meta_set_annotation(arena, pod, JOB_INDEX_KEY, text);
    kube_meta_set_label(arena, pod, JOB_INDEX_KEY, text);
    /* A long job name is shortened, so that the pod's name still contains the whole index. */
    json_set(arena, json_get(pod, "metadata"), "generateName",
             json_stringf(arena, "%.*s%s", GENERATE_MAX - (int)strlen(suffix), spec->name, suffix));
    json_set(arena, pod_spec, "hostname", json_stringf(arena, "%s-%s", spec->name, text));
    for (size_t i = 0; i < 2; i++) {
        JSON_EACH (container, json_get(pod_spec, lists[i]))
            add_index_variable(arena, container);
    }
}

struct json *job_pod_new(struct arena *arena, const struct json *job, const struct job_spec *spec,
                         int64_t index)
{
    const struct json *template_ = json_at(job, "spec", "template", NULL);
    const struct json *given = json_get(template_, "metadata");
    struct json *pod = kube_object_make(arena, &KUBE_PODS, spec->namespace_, "");
    struct json *meta = json_get(pod, "metadata");
    json_remove(meta, "name");
    json_set(arena, meta, "generateName", json_stringf(arena, "%s-", spec->name));
    job_pod_copy_member(arena, meta, given, "labels");
    job_pod_copy_member(arena, meta, given, "annotations");
    job_pod_copy_member(arena, meta, given, "finalizers");
    kube_meta_add_finalizer(arena, pod, JOB_FINALIZER);
    kube_meta_add_owner(arena, pod, kube_owner_reference_new(arena, job, true));
    job_pod_copy_member(arena, pod, template_, "spec");
    if (spec->indexed)
        set_index(arena, pod, spec, index);
    return pod;
}
