/* TFJobs and PyTorchJobs as the API server sees them: only what their schemas require. What the
 * fields mean is the operator's to judge, on any cluster. */
#include "engine/kinds.h"

#include "base/mem.h"
#include "base/str.h"

/* What became runPolicy in v1 stood at the spec itself before. */
void kind_tfjob_convert_v1beta1(struct arena *arena, struct json *job)
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
}

void kind_training_job_create(struct arena *arena, struct json *job)
{
    json_remove(job, "status"); /* the operator's word alone */
}

static bool require_object(struct field_errors *errors, const struct json *value, const char *field)
{
    if (!value || value->type == JSON_NULL) {
        field_required(errors, field, NULL);
        return false;
    }
    if (value->type != JSON_OBJECT) {
        field_invalid(errors, field, value, "%s in body must be of type object", field);
        return false;
    }
    return true;
}

static void require_integer(struct field_errors *errors, const struct json *value,
                            const char *field)
{
    if (value && value->type != JSON_NULL && value->type != JSON_INT)
        field_invalid(errors, field, value, "%s in body must be of type integer", field);
}

static void validate_replicas(struct field_errors *errors, const struct json *spec,
                              const char *member)
{
    const struct json *replicas = json_get(spec, member);
    if (!require_object(errors, replicas, field_path(errors, "spec.%s", member)))
        return;
    JSON_EACH (replica, replicas) {
        const char *field = field_path(errors, "spec.%s.%s", member, replica->name);
        if (!require_object(errors, replica, field))
            continue;
        require_integer(errors, json_get(replica, "replicas"),
                        field_path(errors, "%s.replicas", field));
        const struct json *template_ = json_get(replica, "template");
        if (template_ && template_->type != JSON_NULL)
            require_object(errors, template_, field_path(errors, "%s.template", field));
    }
}

static void require_same(struct field_errors *errors, const struct json *value,
                         const struct json *old, const char *field)
{
    if (!str_eq(value ? json_text(value) : NULL, old ? json_text(old) : NULL))
        field_invalid(errors, field, value, "field is immutable");
}

/* Who runs the job is settled when it is made, and so is the queue it waits in. */
static void validate_run_policy(struct field_errors *errors, const struct json *job,
                                const struct json *old)
{
    static const char *const managers[] = {"kubeflow.org/training-operator",
                                           "kueue.x-k8s.io/multikueue", NULL};
    const struct json *policy = json_at(job, "spec", "runPolicy", NULL);
    const struct json *before = json_at(old, "spec", "runPolicy", NULL);
    const struct json *manager = json_get(policy, "managedBy");
    const char *name = json_text(manager);
    if (manager && manager->type != JSON_NULL && !str_eq(name, managers[0]) &&
        !str_eq(name, managers[1]))
        field_unsupported(errors, "spec.runPolicy.managedBy", name ? name : "", managers);
    if (!old)
        return;
    require_same(errors, manager, json_get(before, "managedBy"), "spec.runPolicy.managedBy");
    const struct json *queue = json_at(before, "schedulingPolicy", "queue", NULL);
    if (json_text(queue))
        require_same(errors, json_at(policy, "schedulingPolicy", "queue", NULL), queue,
                     "spec.runPolicy.schedulingPolicy.queue");
}

void kind_tfjob_validate(struct field_errors *errors, const struct json *job,
                         const struct json *old)
{
    const struct json *spec = json_get(job, "spec");
    if (!require_object(errors, spec, "spec"))
        return;
    validate_replicas(errors, spec, "tfReplicaSpecs");
    validate_run_policy(errors, job, old);
}

/* nprocPerNode is text ("auto", "gpu", "2"), but of elasticPolicy a number. */
static void validate_elastic(struct field_errors *errors, const struct json *policy)
{
    static const char *const numbers[] = {"minReplicas", "maxReplicas", "rdzvPort", "nProcPerNode",
                                          "maxRestarts"};
    if (!policy || policy->type == JSON_NULL ||
        !require_object(errors, policy, "spec.elasticPolicy"))
        return;
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
        require_integer(errors, json_get(policy, numbers[i]),
                        field_path(errors, "spec.elasticPolicy.%s", numbers[i]));
}

void kind_pytorchjob_validate(struct field_errors *errors, const struct json *job,
                              const struct json *old)
{
    const struct json *spec = json_get(job, "spec");
    if (!require_object(errors, spec, "spec"))
        return;
    validate_replicas(errors, spec, "pytorchReplicaSpecs");
    validate_run_policy(errors, job, old);
    const struct json *processes = json_get(spec, "nprocPerNode");
    if (processes && processes->type != JSON_NULL && processes->type != JSON_STRING)
        field_invalid(errors, "spec.nprocPerNode", processes,
                      "spec.nprocPerNode in body must be of type string; quote it");
    validate_elastic(errors, json_get(spec, "elasticPolicy"));
}
