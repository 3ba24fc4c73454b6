/* Jobs: their row, their defaults, and the generated labels that identify their pods, as in
 * Kubernetes. job_validate.c validates Jobs. */
#include "kube/kinds/row.h"

#include "base/str.h"
#include "kube/kinds/defaults.h"
#include "kube/kinds/job.h"
#include "kube/kinds/pod/pod.h"
#include "kube/object.h"

static void job_defaults(struct arena *arena, struct json *job)
{
    struct json *spec = json_get(job, "spec");
    if (!json_get(spec, "completions") && !json_get(spec, "parallelism"))
        json_set_int(arena, spec, "completions", 1);
    default_int(arena, spec, "parallelism", 1);
    kube_pod_spec_defaults(arena, json_at(spec, "template", "spec", NULL));
}

static void add_label(struct arena *arena, struct json *labels, const char *key, const char *value)
{
    if (!json_get(labels, key)) /* validation refuses a label with another value */
        json_set_string(arena, labels, key, value);
}

/* Returns whether the member is an object, or is missing and can be added as one. */
static bool may_become_object(const struct json *object, const char *name)
{
    const struct json *value = json_get(object, name);
    return !value || value->type == JSON_NULL || value->type == JSON_OBJECT;
}

/* Adds labels to the pod template and a selector for them. The selector contains the uid of the
 * job. Therefore it does not match the pods of an earlier job of the same name. Validation reports
 * members of wrong types. */
static void generate_selector(struct arena *arena, struct json *job, struct json *spec)
{
    struct json *template_ = json_get(spec, "template");
    if (!may_become_object(spec, "selector") || !template_ || template_->type != JSON_OBJECT ||
        !may_become_object(template_, "metadata") ||
        !may_become_object(json_get(template_, "metadata"), "labels") ||
        !may_become_object(json_get(spec, "selector"), "matchLabels"))
        return;
    struct json *labels =
        json_ensure_object(arena, json_ensure_object(arena, template_, "metadata"), "labels");
    add_label(arena, labels, JOB_UID_LABEL, kube_meta_uid(job));
    add_label(arena, labels, JOB_NAME_LABEL, kube_meta_name(job));
    add_label(arena, labels, JOB_UID_LABEL_OLD, kube_meta_uid(job));
    add_label(arena, labels, JOB_NAME_LABEL_OLD, kube_meta_name(job));
    add_label(arena,
              json_ensure_object(arena, json_ensure_object(arena, spec, "selector"), "matchLabels"),
              JOB_UID_LABEL, kube_meta_uid(job));
}

/* A job without labels gets the labels of its pod template. */
static void take_labels(struct arena *arena, struct json *job, const struct json *spec)
{
    const struct json *labels = json_at(spec, "template", "metadata", "labels", NULL);
    if (json_count(labels) > 0 && json_count(kube_meta_labels(job)) == 0)
        json_set(arena, json_ensure_object(arena, job, "metadata"), "labels",
                 json_clone(arena, labels));
}

static void job_create(struct arena *arena, struct json *job)
{
    struct json *spec = json_get(job, "spec");
    json_set(arena, job, "status", json_object(arena)); /* only the controller may set the status */
    if (spec && spec->type == JSON_OBJECT && !json_get_bool(spec, "manualSelector", false))
        generate_selector(arena, job, spec);
    take_labels(arena, job, spec);
}

static const struct kube_column JOB_COLUMNS[] = {
    COLUMN_NAME,
    COLUMN_TEXT("Completions", "Pods that have succeeded, out of the number required.",
                table_job_completions),
    COLUMN_TEXT("Duration", "Time from the start of the job to its end.", table_job_duration),
    COLUMN_AGE,
    COLUMN_WIDE("Containers", "Names of the containers.", table_template_containers),
    COLUMN_WIDE("Images", "Images of the containers.", table_template_images),
    COLUMN_WIDE("Selector", "Label selector of its pods.", table_pod_selector),
};

/* clang-format off */

KUBE_KIND(KUBE_JOBS, KUBE_JOB_KIND, "batch", "v1", "jobs", "Job", NAMESPACED,
    .schema = &TYPE_JOB,
    .singular = "job",
    .categories = CATEGORY_ALL,
    .verbs = VERBS_ALL,
    .subresources = SUBRESOURCES(STATUS_OF("Job")),
    .generation = true,
    .columns = COLUMNS(JOB_COLUMNS),
    .hooks = {.defaults = job_defaults,
        .create = job_create,
        .validate = kube_job_validate});
