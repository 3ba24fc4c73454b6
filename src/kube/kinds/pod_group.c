/* PodGroups, of the scheduler-plugins and of Volcano: numbers that are numbers, amounts that are
 * amounts. What they ask for is the scheduler's (scheduler.h); Volcano's are kept for a Volcano. */
#include "engine/kinds/kinds.h"

#include "base/mem.h"
#include "kube/quantity.h"

void kind_pod_group_create(struct arena *arena, struct json *group)
{
    json_remove(group, "status"); /* the scheduler's word alone */
}

void kind_pod_group_validate(struct field_errors *errors, const struct json *group,
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
