/* Handles older versions of the TFJob. In v1beta1 the fields of runPolicy are fields of spec; such
 * a job is converted. In v1alpha1 `replicaSpecs` is a list, and each element names its role in
 * `tfReplicaType`; such a job is refused, and the message shows how the job is written in v1. */
#include "operator/kind/training_row.h"

#include "base/buf.h"
#include "base/json/yaml.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"

#include <string.h>
#include <strings.h>

/* Moves the fields that are in runPolicy since v1. A missing cleanPodPolicy gets Running, the
 * default of v1beta1. With the default of v1 the parameter servers of the job would keep running
 * after its end. */
void tfjob_convert_v1beta1(struct arena *arena, struct json *job)
{
    static const char *const moved[] = {"activeDeadlineSeconds", "backoffLimit", "cleanPodPolicy",
                                        "ttlSecondsAfterFinished"};
    struct json *spec = json_get(job, "spec");
    for (size_t i = 0; i < ARRAY_SIZE(moved); i++) {
        struct json *value = json_get(spec, moved[i]);
        if (!value)
            continue;
        struct json *policy = json_ensure_object(arena, spec, "runPolicy");
        json_set(arena, policy, moved[i], json_clone(arena, value));
        json_remove(spec, moved[i]);
    }
    if (!spec || spec->type != JSON_OBJECT ||
        json_get(json_get(spec, "runPolicy"), "cleanPodPolicy"))
        return;
    const struct json *written = json_get(spec, "runPolicy");
    if (!written || written->type == JSON_NULL || written->type == JSON_OBJECT)
        json_set_string(arena, json_ensure_object(arena, spec, "runPolicy"), "cleanPodPolicy",
                        "Running");
}

/* YAML_MAX limits the memory for the YAML of a job. A message shows at most SHOWN_MAX bytes of it,
 * because it is read on a terminal. */
enum { YAML_MAX = 256 * 1024, SHOWN_MAX = 8 * 1024 };

/* Returns the role of an element in the spelling of v1. An element without a role is a Master. An
 * unknown role is returned unchanged. */
static const char *v1_role(const struct json *element)
{
    static const char *const roles[] = {"Chief", "Master", "Worker", "PS", "Evaluator"};
    const char *written = json_get_string(element, "tfReplicaType", "Master");
    for (size_t i = 0; i < ARRAY_SIZE(roles); i++)
        if (strcasecmp(written, roles[i]) == 0)
            return roles[i];
    return written;
}

static void copy_job_member(struct arena *arena, struct json *to, const struct json *from,
                            const char *name)
{
    if (json_get(from, name))
        json_set(arena, to, name, json_clone(arena, json_get(from, name)));
}

/* Returns one element of the list as a replica spec of v1. The restart policy moves from the
 * template to the replica spec. The port of the element is left out, because v1 has a default port.
 */
static struct json *rewrite_replica(struct arena *arena, const struct json *element)
{
    struct json *replica = json_object(arena);
    copy_job_member(arena, replica, element, "replicas");
    copy_job_member(arena, replica, json_at(element, "template", "spec", NULL), "restartPolicy");
    copy_job_member(arena, replica, element, "template");
    json_remove(json_at(replica, "template", "spec", NULL), "restartPolicy");
    return replica;
}

static struct json *rewrite_job(struct arena *arena, const struct json *job)
{
    const struct json *metadata = json_get(job, "metadata"), *spec = json_get(job, "spec");
    struct json *rewritten = json_object(arena);
    json_set_string(arena, rewritten, "apiVersion", "kubeflow.org/v1");
    json_set_string(arena, rewritten, "kind", "TFJob");
    struct json *new_metadata = json_ensure_object(arena, rewritten, "metadata");
    copy_job_member(arena, new_metadata, metadata, "name");
    copy_job_member(arena, new_metadata, metadata, "generateName");
    copy_job_member(arena, new_metadata, metadata, "namespace");
    copy_job_member(arena, new_metadata, metadata, "labels");
    struct json *new_spec = json_ensure_object(arena, rewritten, "spec");
    copy_job_member(arena, new_spec, spec, "runPolicy");
    struct json *roles = json_ensure_object(arena, new_spec, "tfReplicaSpecs");
    JSON_EACH (element, json_get(spec, "replicaSpecs")) {
        if (element->type == JSON_OBJECT)
            json_set(arena, roles, v1_role(element), rewrite_replica(arena, element));
    }
    return rewritten;
}

/* Returns the first SHOWN_MAX bytes of the YAML in whole lines. If the YAML was cut, a note
 * follows. */
static const char *first_lines(struct arena *arena, const struct buf *yaml)
{
    size_t size = yaml->size;
    if (size <= SHOWN_MAX && !yaml->overflowed)
        return arena_strndup(arena, yaml->data, size);
    size = size < SHOWN_MAX ? size : SHOWN_MAX;
    while (size > 0 && yaml->data[size - 1] != '\n')
        size--;
    return arena_printf(arena, "%.*s# … and so on: the rest is not shown\n", (int)size, yaml->data);
}

void tfjob_refuse_list(struct field_errors *errors, const struct json *job)
{
    const struct json *list = json_at(job, "spec", "replicaSpecs", NULL);
    if (!list || list->type != JSON_ARRAY)
        return;
    _cleanup_buf_ struct buf yaml;
    buf_init(&yaml, YAML_MAX);
    yaml_write(rewrite_job(errors->arena, job), &yaml);
    field_forbidden(
        errors, "spec.replicaSpecs",
        arena_printf(errors->arena,
                     "the list with tfReplicaType is the format of v1alpha1, which is no longer "
                     "supported. Since v1beta1 the replica types are a map:\n\n%s",
                     first_lines(errors->arena, &yaml)));
}
