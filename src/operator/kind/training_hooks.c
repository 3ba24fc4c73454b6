/* TFJobs and PyTorchJobs as the API server sees them: what their tables require, which manifests/
 * tells other servers, and pods that this server would take. What the replicas of a job must be to
 * each other is the operator's to judge, on any cluster. */
#include "engine/kinds/kinds.h"

#include "base/mem.h"
#include "kube/kinds/rule.h"
#include "kube/schema/validate.h"
#include "kube/types/types.h"

/* The operator's limit, which manifests/ tells other API servers. */
enum { REPLICAS_MAX = 10000 };

/* What became runPolicy in v1 stood at the spec itself before. The default is v1beta1's own:
 * without it the parameter servers of a job would run on after its end. */
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
    if (!spec || spec->type != JSON_OBJECT ||
        json_get(json_get(spec, "runPolicy"), "cleanPodPolicy"))
        return;
    const struct json *written = json_get(spec, "runPolicy");
    if (!written || written->type == JSON_NULL || written->type == JSON_OBJECT)
        json_set_string(arena, json_ensure_object(arena, spec, "runPolicy"), "cleanPodPolicy",
                        "Running");
}

void kind_training_job_create(struct arena *arena, struct json *job)
{
    json_remove(job, "status"); /* the operator's word alone */
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

static void validate_sum(struct field_errors *errors, const struct json *specs,
                         const struct json *old, const char *path)
{
    int64_t total = count_replicas(specs);
    if (total > REPLICAS_MAX && (!old || total > count_replicas(old)))
        field_invalid(errors, path, json_int(errors->arena, total),
                      "%s in body should have at most %d replicas in all", path, REPLICAS_MAX);
}

/* A template that was there before stays: the rest of the job can be changed. */
static void validate_templates(struct field_errors *errors, const struct json *specs,
                               const struct json *old, const char *path)
{
    JSON_EACH (replica, specs) {
        const struct json *template_ = json_get(replica, "template");
        const struct json *before = json_get(json_get(old, replica->name), "template");
        if (template_ && !rule_same(template_, before))
            rule_template_written(errors, template_,
                                  field_path(errors, "%s.%s.template", path, replica->name));
    }
}

/* The controller of a job is settled when the job is made, and so is the queue it waits in. */
static void validate_settled(struct field_errors *errors, const struct json *spec,
                             const struct json *old)
{
    const struct json *policy = json_get(spec, "runPolicy"), *before = json_get(old, "runPolicy");
    const struct json *queue = json_at(before, "schedulingPolicy", "queue", NULL);
    rule_immutable(errors, json_get(policy, "managedBy"), json_get(before, "managedBy"),
                   "spec.runPolicy.managedBy");
    if (json_text(queue))
        rule_immutable(errors, json_at(policy, "schedulingPolicy", "queue", NULL), queue,
                       "spec.runPolicy.schedulingPolicy.queue");
}

/* `member` holds the replicas. The table of the kind says what holds for each field; only a job
 * that keeps it is looked at further. */
static void validate_job(struct field_errors *errors, const struct schema_object *type,
                         const char *member, const struct json *job, const struct json *old)
{
    const struct json *spec = json_get(job, "spec"), *before = json_get(old, "spec");
    const struct json *specs = json_get(spec, member);
    const char *path = field_path(errors, "spec.%s", member);
    if (!rule_has(job, "spec")) {
        field_required(errors, "spec", NULL);
        return;
    }
    schema_validate_change(errors, &schema_field(type, "spec")->value, "spec", spec, before);
    if (errors->count > 0)
        return;
    validate_sum(errors, specs, json_get(before, member), path);
    validate_templates(errors, specs, json_get(before, member), path);
    if (old)
        validate_settled(errors, spec, before);
}

void kind_tfjob_validate(struct field_errors *errors, const struct json *job,
                         const struct json *old)
{
    validate_job(errors, &TYPE_TFJOB, "tfReplicaSpecs", job, old);
}

void kind_pytorchjob_validate(struct field_errors *errors, const struct json *job,
                              const struct json *old)
{
    validate_job(errors, &TYPE_PYTORCHJOB, "pytorchReplicaSpecs", job, old);
}
