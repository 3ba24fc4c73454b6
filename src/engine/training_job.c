/* TFJobs and PyTorchJobs as the API server sees them: only what their schemas require, as
 * manifests/ has it. What the fields mean is the operator's to judge, on any cluster. */
#include "engine/kinds.h"

#include "base/mem.h"
#include "base/str.h"

#include <inttypes.h>

/* The operator's limit, which manifests/ tells other API servers. */
enum { REPLICAS_MAX = 10000 };

/* A number that must be within bounds. */
struct bounds {
    const char *name;
    int64_t min, max;
};

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

/* A number outside its bounds that was there before may stay: the rest of an object that is older
 * than the bounds can still be changed. */
static void require_within(struct field_errors *errors, const struct json *object,
                           const struct json *old, const char *path, const struct bounds *bounds)
{
    const struct json *value = json_get(object, bounds->name);
    const struct json *before = json_get(old, bounds->name);
    const char *field = field_path(errors, "%s.%s", path, bounds->name);
    if (!value || value->type == JSON_NULL || (before && json_equal(value, before)))
        return;
    if (value->type != JSON_INT)
        field_invalid(errors, field, value, "%s in body must be of type integer", field);
    else if (value->integer < bounds->min)
        field_invalid(errors, field, value,
                      "%s in body should be greater than or equal to %" PRId64, field, bounds->min);
    else if (value->integer > bounds->max)
        field_invalid(errors, field, value, "%s in body should be less than or equal to %" PRId64,
                      field, bounds->max);
}

/* A word, which as a number may stay what it was. */
static void require_word(struct field_errors *errors, const struct json *object,
                         const struct json *old, const char *path, const char *name,
                         const char *const *words)
{
    const struct json *value = json_get(object, name), *before = json_get(old, name);
    const char *field = field_path(errors, "%s.%s", path, name);
    if (!value || value->type == JSON_NULL || (before && json_equal(value, before)))
        return;
    for (size_t i = 0; words[i]; i++)
        if (str_eq(json_text(value), words[i]))
            return;
    field_unsupported_value(errors, field, value, words);
}

/* Each number is small or not counted: one that is too large was told of by itself. */
static int64_t count_replicas(const struct json *specs)
{
    int64_t total = 0;
    JSON_EACH (replica, specs) {
        int64_t number = json_get_int(replica, "replicas", 1);
        total += number > 0 && number <= REPLICAS_MAX ? number : 0;
    }
    return total;
}

static void validate_replicas(struct field_errors *errors, const struct json *spec,
                              const struct json *old, const char *member)
{
    static const struct bounds replicas = {"replicas", 0, REPLICAS_MAX};
    static const char *const restarts[] = {"", "Always", "OnFailure", "Never", "ExitCode", NULL};
    const struct json *specs = json_get(spec, member), *before = json_get(old, member);
    const char *path = field_path(errors, "spec.%s", member);
    if (!require_object(errors, specs, path))
        return;
    JSON_EACH (replica, specs) {
        const char *field = field_path(errors, "%s.%s", path, replica->name);
        if (!require_object(errors, replica, field))
            continue;
        require_within(errors, replica, json_get(before, replica->name), field, &replicas);
        require_word(errors, replica, json_get(before, replica->name), field, "restartPolicy",
                     restarts);
        const struct json *template_ = json_get(replica, "template");
        if (template_ && template_->type != JSON_NULL)
            require_object(errors, template_, field_path(errors, "%s.template", field));
    }
    int64_t total = count_replicas(specs);
    if (total > REPLICAS_MAX && (!before || total > count_replicas(before)))
        field_invalid(errors, path, json_int(errors->arena, total),
                      "%s in body should have at most %d replicas in all", path, REPLICAS_MAX);
}

static void require_same(struct field_errors *errors, const struct json *value,
                         const struct json *old, const char *field)
{
    if (!str_eq(value ? json_text(value) : NULL, old ? json_text(old) : NULL))
        field_invalid(errors, field, value, "field is immutable");
}

/* The numbers of spec.runPolicy, which the older version has at the spec itself. */
static void validate_limits(struct field_errors *errors, const struct json *policy,
                            const struct json *old)
{
    static const struct bounds limits[] = {
        {"activeDeadlineSeconds", 0, INT64_MAX / 1000 / 2},
        {"backoffLimit", 0, INT32_MAX},
        {"ttlSecondsAfterFinished", 0, INT32_MAX},
    };
    static const struct bounds scheduling[] = {
        {"minAvailable", 0, INT32_MAX},
        {"scheduleTimeoutSeconds", 0, INT32_MAX},
    };
    for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
        require_within(errors, policy, old, "spec.runPolicy", &limits[i]);
    for (size_t i = 0; i < ARRAY_SIZE(scheduling); i++)
        require_within(errors, json_get(policy, "schedulingPolicy"),
                       json_get(old, "schedulingPolicy"), "spec.runPolicy.schedulingPolicy",
                       &scheduling[i]);
}

/* Who runs the job is settled when it is made, and so is the queue it waits in. */
static void validate_run_policy(struct field_errors *errors, const struct json *job,
                                const struct json *old)
{
    static const char *const managers[] = {"kubeflow.org/training-operator",
                                           "kueue.x-k8s.io/multikueue", NULL};
    static const char *const cleanings[] = {"None", "Running", "All", NULL};
    const struct json *policy = json_at(job, "spec", "runPolicy", NULL);
    const struct json *before = json_at(old, "spec", "runPolicy", NULL);
    const struct json *manager = json_get(policy, "managedBy");
    const char *name = json_text(manager);
    validate_limits(errors, policy, before);
    require_word(errors, policy, before, "spec.runPolicy", "cleanPodPolicy", cleanings);
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
    static const char *const successes[] = {"", "AllWorkers", NULL};
    const struct json *spec = json_get(job, "spec");
    if (!require_object(errors, spec, "spec"))
        return;
    validate_replicas(errors, spec, json_get(old, "spec"), "tfReplicaSpecs");
    validate_run_policy(errors, job, old);
    require_word(errors, spec, json_get(old, "spec"), "spec", "successPolicy", successes);
}

/* nprocPerNode is text ("auto", "gpu", "2"), but of elasticPolicy a number. */
static void validate_elastic(struct field_errors *errors, const struct json *policy,
                             const struct json *old)
{
    static const struct bounds numbers[] = {
        {"minReplicas", 1, REPLICAS_MAX}, {"maxReplicas", 1, REPLICAS_MAX}, {"rdzvPort", 1, 65535},
        {"nProcPerNode", 1, INT32_MAX},   {"maxRestarts", 0, INT32_MAX},
    };
    if (!policy || policy->type == JSON_NULL ||
        !require_object(errors, policy, "spec.elasticPolicy"))
        return;
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
        require_within(errors, policy, old, "spec.elasticPolicy", &numbers[i]);
}

void kind_pytorchjob_validate(struct field_errors *errors, const struct json *job,
                              const struct json *old)
{
    const struct json *spec = json_get(job, "spec");
    if (!require_object(errors, spec, "spec"))
        return;
    validate_replicas(errors, spec, json_get(old, "spec"), "pytorchReplicaSpecs");
    validate_run_policy(errors, job, old);
    const struct json *processes = json_get(spec, "nprocPerNode");
    if (processes && processes->type != JSON_NULL && processes->type != JSON_STRING)
        field_invalid(errors, "spec.nprocPerNode", processes,
                      "spec.nprocPerNode in body must be of type string; quote it");
    validate_elastic(errors, json_get(spec, "elasticPolicy"),
                     json_at(old, "spec", "elasticPolicy", NULL));
}
