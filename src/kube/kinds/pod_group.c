/* PodGroups of the scheduler-plugins and of Volcano: their rows, and the validation of numbers and
 * amounts. The built-in scheduler reads PodGroups of the scheduler-plugins
 * (engine/scheduler/gang.h). PodGroups of Volcano are only stored, for a Volcano scheduler that
 * runs in the same cluster. */
#include "kube/kinds/row.h"

#include "base/mem.h"
#include "kube/quantity.h"

static void pod_group_create(struct arena *arena, struct json *group)
{
    json_remove(group, "status"); /* a client may not set the status on create */
}

static void pod_group_validate(struct field_errors *errors, const struct json *group,
                               const struct json *old)
{
    static const char *const numbers[] = {"minMember", "scheduleTimeoutSeconds"};
    const struct json *spec = json_get(group, "spec");
    if (spec && spec->type != JSON_NULL && spec->type != JSON_OBJECT) {
        field_invalid(errors, "spec", spec, "spec in body must be of type object");
        return;
    }
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
        const struct json *number = json_get(spec, numbers[i]);
        if (number && number->type != JSON_NULL &&
            (number->type != JSON_INT || number->integer < 0 || number->integer > INT32_MAX))
            field_invalid(errors, field_path(errors, "spec.%s", numbers[i]), number,
                          "must be a whole number from 0 to %d", INT32_MAX);
    }
    JSON_EACH (amount, json_get(spec, "minResources")) {
        struct kube_quantity quantity;
        struct err err = ERR_INIT;
        if (kube_quantity_from_json(amount, &quantity, &err) < 0)
            field_invalid(errors, field_path(errors, "spec.minResources[%s]", amount->name), amount,
                          "%s", err.message);
    }
}

static const struct kube_column GROUP_COLUMNS[] = {
    COLUMN_NAME,
    COLUMN_TEXT("Phase", "Phase of the group.", table_phase),
    COLUMN_INT("MinMember", "Minimum number of pods that are scheduled together.",
               table_group_min_member),
    COLUMN_INT("Running", "Number of its pods that are running.", table_group_running),
    COLUMN_INT("Succeeded", "Number of its pods that have succeeded.", table_group_succeeded),
    COLUMN_INT("Failed", "Number of its pods that have failed.", table_group_failed),
    COLUMN_AGE,
};

static const struct kube_column VOLCANO_GROUP_COLUMNS[] = {
    COLUMN_NAME,
    COLUMN_TEXT("Status", "Phase of the group.", table_phase),
    COLUMN_INT("minMember", "Minimum number of pods that are scheduled together.",
               table_group_min_member),
    COLUMN_INT("Runnings", "Number of its pods that are running.", table_group_running),
    COLUMN_AGE,
    COLUMN_WIDE("Queue", "Queue that the group waits in.", table_group_queue),
};

/* clang-format off */

KUBE_KIND(KUBE_PODGROUPS, KUBE_PODGROUP_KIND, "scheduling.x-k8s.io", "v1alpha1", "podgroups",
        "PodGroup", NAMESPACED,
    .schema = &TYPE_POD_GROUP,
    .form = SCHEMA_FORM_WRITTEN,
    .singular = "podgroup",
    .short_names = NAMES("pg", "pgs"),
    .verbs = VERBS_ALL,
    .subresources = SUBRESOURCES(STATUS_OF("PodGroup")),
    .generation = true,
    .columns = COLUMNS(GROUP_COLUMNS),
    .hooks = {.create = pod_group_create, .validate = pod_group_validate});

KUBE_KIND(KUBE_VOLCANO_PODGROUPS, KUBE_VOLCANO_PODGROUP_KIND, "scheduling.volcano.sh", "v1beta1",
        "podgroups", "PodGroup", NAMESPACED,
    .schema = &TYPE_VOLCANO_POD_GROUP,
    .form = SCHEMA_FORM_WRITTEN,
    .singular = "podgroup",
    .short_names = NAMES("podgroup-v1beta1"),
    .verbs = VERBS_ALL,
    .subresources = SUBRESOURCES(STATUS_OF("PodGroup")),
    .generation = true,
    .columns = COLUMNS(VOLCANO_GROUP_COLUMNS),
    .hooks = {.create = pod_group_create, .validate = pod_group_validate});
