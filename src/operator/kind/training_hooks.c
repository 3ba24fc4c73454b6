/* Validates training jobs in the API server: the rules of their type tables and the pod templates.
 * manifests/ contains the same rules for other API servers. The operator also validates how the
 * replicas of a job fit together, on any cluster (training_validate.c). */
#include "operator/kind/training_row.h"

#include "base/mem.h"
#include "kube/kinds/rule.h"
#include "kube/schema/validate.h"
#include "operator/kind/training_job.h"

void training_row_create(struct arena *arena, struct json *job)
{
    json_remove(job, "status"); /* only the operator may set it */
}

/* Returns the total number of replicas. Numbers out of range are left out, because each has its own
 * error. */
static int64_t count_replicas(const struct json *specs)
{
    int64_t total = 0;
    JSON_EACH (replica, specs) {
        int64_t number = json_get_int(replica, "replicas", 1);
        total += number > 0 && number <= TRAINING_REPLICAS_MAX ? number : 0;
    }
    return total;
}

/* Limits the total number of replicas. An older job with more replicas may be changed, as long as
 * it does not grow. */
static void validate_sum(struct field_errors *errors, const struct json *specs,
                         const struct json *old, const char *path)
{
    int64_t total = count_replicas(specs);
    if (total > TRAINING_REPLICAS_MAX && (!old || total > count_replicas(old)))
        field_invalid(errors, path, json_int(errors->arena, total),
                      "%s in body should have at most %d replicas in all", path,
                      TRAINING_REPLICAS_MAX);
}

/* An unchanged template is not validated again, so that the rest of an older job can be changed. */
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

/* Refuses a change of the controller that manages the job, and of its queue. A job without a queue
 * may get one. */
static void validate_immutable(struct field_errors *errors, const struct json *spec,
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

/* Validates a job by the type of its kind. Only a job that conforms to the type is checked further.
 */
void training_row_validate(struct field_errors *errors, const struct schema_object *type,
                           const char *specs, const struct json *job, const struct json *old)
{
    const struct json *spec = json_get(job, "spec"), *before = json_get(old, "spec");
    const struct json *replicas = json_get(spec, specs);
    const char *path = field_path(errors, "spec.%s", specs);
    if (!rule_has(job, "spec")) {
        field_required(errors, "spec", NULL);
        return;
    }
    schema_validate_change(errors, &schema_field(type, "spec")->value, "spec", spec, before);
    if (errors->count > 0)
        return;
    validate_sum(errors, replicas, json_get(before, specs), path);
    validate_templates(errors, replicas, json_get(before, specs), path);
    if (old)
        validate_immutable(errors, spec, before);
}
