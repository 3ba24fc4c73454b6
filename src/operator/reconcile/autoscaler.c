/* Builds the HorizontalPodAutoscaler of elasticPolicy.metrics; see autoscaler.h. The object has the
 * name of its job and sets the job's scale subresource. */
#include "operator/reconcile/autoscaler.h"

#include "kube/object.h"

struct json *training_autoscaler_new(struct arena *arena, const struct training_job *job)
{
    const struct json *metrics = json_get(job->elastic, "metrics");
    struct json *metadata, *spec;

    if (json_count(metrics) == 0)
        return NULL;
    struct json *object = json_object(arena);
    json_set_string(arena, object, "kind", "HorizontalPodAutoscaler");
    metadata = json_ensure_object(arena, object, "metadata");
    json_set_string(arena, metadata, "name", job->name);
    json_set_string(arena, metadata, "namespace", job->namespace_);
    kube_meta_set_label(arena, object, TRAINING_OPERATOR_LABEL, job->kind->controller_name);
    kube_meta_set_label(arena, object, TRAINING_NAME_LABEL, job->name);
    kube_meta_add_owner(arena, object, kube_owner_reference_new(arena, job->json, true));

    spec = json_ensure_object(arena, object, "spec");
    struct json *target = json_ensure_object(arena, spec, "scaleTargetRef");
    json_set_string(arena, target, "apiVersion",
                    kube_resource_api_version(arena, job->kind->resource));
    json_set_string(arena, target, "kind", job->kind->row->id.kind);
    json_set_string(arena, target, "name", job->name);
    json_set_int(arena, spec, "minReplicas", job->workers_min);
    json_set_int(arena, spec, "maxReplicas", job->workers_max);
    json_set(arena, spec, "metrics", json_clone(arena, metrics));
    return object;
}

bool training_autoscaler_is_same(const struct json *wanted, const struct json *present)
{
    JSON_EACH (member, json_get(wanted, "spec")) {
        if (!json_equal(member, json_at(present, "spec", member->name, NULL)))
            return false;
    }
    return true;
}
