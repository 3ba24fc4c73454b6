/* TFJobs as the API server sees them: only what its schema requires. What the fields mean is the
 * operator's to judge, on any cluster. */
#include "engine/kinds.h"

#include "base/mem.h"

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

void kind_tfjob_create(struct arena *arena, struct json *job)
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

void kind_tfjob_validate(struct field_errors *errors, const struct json *job,
                         const struct json *old)
{
    const struct json *spec = json_get(job, "spec");
    if (!require_object(errors, spec, "spec"))
        return;
    const struct json *replicas = json_get(spec, "tfReplicaSpecs");
    if (!require_object(errors, replicas, "spec.tfReplicaSpecs"))
        return;
    JSON_EACH (replica, replicas) {
        const char *field = field_path(errors, "spec.tfReplicaSpecs.%s", replica->name);
        if (!require_object(errors, replica, field))
            continue;
        const struct json *count = json_get(replica, "replicas");
        if (count && count->type != JSON_NULL && count->type != JSON_INT)
            field_invalid(errors, field_path(errors, "%s.replicas", field), count,
                          "%s.replicas in body must be of type integer", field);
        const struct json *template_ = json_get(replica, "template");
        if (template_ && template_->type != JSON_NULL && template_->type != JSON_OBJECT)
            field_invalid(errors, field_path(errors, "%s.template", field), template_,
                          "%s.template in body must be of type object", field);
    }
}
