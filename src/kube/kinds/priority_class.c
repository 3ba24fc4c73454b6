/* PriorityClasses: their row, their validation, and the two classes that every cluster has. */
#include "kube/kinds/priority_class.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/kinds/row.h"
#include "kube/kinds/rule.h"
#include "kube/object.h"

#include <inttypes.h>

enum { USER_PRIORITY_MAX = 1000 * 1000 * 1000 };

static const struct {
    const char *name, *description;
    int64_t value;
} SYSTEM[] = {
    {"system-cluster-critical", "For pods without which the cluster does not work.", 2000000000},
    {"system-node-critical", "For pods without which their node does not work.", 2000001000},
};

struct json *kube_priority_class_system(struct arena *arena, size_t position)
{
    if (position >= ARRAY_SIZE(SYSTEM))
        return NULL;
    struct json *class_ =
        kube_object_make(arena, &KUBE_PRIORITYCLASSES, NULL, SYSTEM[position].name);
    json_set_int(arena, class_, "value", SYSTEM[position].value);
    json_set_string(arena, class_, "description", SYSTEM[position].description);
    return class_;
}

/* Returns why a class whose name starts with "system-" is refused, or NULL if it is one of the two
 * built-in classes, has that class's value and is not the global default. */
static const char *system_complaint(struct arena *arena, const struct json *class_)
{
    const char *name = kube_meta_name(class_);
    for (size_t i = 0; i < ARRAY_SIZE(SYSTEM); i++) {
        if (!str_eq(name, SYSTEM[i].name))
            continue;
        if (json_get_int(class_, "value", 0) != SYSTEM[i].value)
            return arena_printf(arena, "value of %s PriorityClass must be %" PRId64, name,
                                SYSTEM[i].value);
        if (json_get_bool(class_, "globalDefault", false))
            return arena_printf(arena, "globalDefault of %s PriorityClass must be false", name);
        return NULL;
    }
    return arena_printf(arena, "%s is not a known system priority class", name);
}

static void validate_value(struct field_errors *errors, const struct json *class_)
{
    if (str_has_prefix(kube_meta_name(class_), "system-")) {
        const char *complaint = system_complaint(errors->arena, class_);
        if (complaint)
            field_forbidden(errors, "metadata.name",
                            arena_printf(errors->arena,
                                         "priority class names with 'system-' prefix are reserved "
                                         "for system use only. error: %s",
                                         complaint));
    } else if (json_get_int(class_, "value", 0) > USER_PRIORITY_MAX) {
        field_forbidden(errors, "value",
                        arena_printf(errors->arena,
                                     "maximum allowed value of a user defined priority is %d",
                                     USER_PRIORITY_MAX));
    }
}

static void priority_class_validate(struct field_errors *errors, const struct json *class_,
                                    const struct json *old)
{
    static const char *const policies[] = {"PreemptLowerPriority", "Never", NULL};
    const char *policy = json_get_string(class_, "preemptionPolicy", "");
    if (old) {
        if (json_get_int(class_, "value", 0) != json_get_int(old, "value", 0))
            field_forbidden(errors, "value", "may not be changed in an update.");
        rule_immutable(errors, json_get(class_, "preemptionPolicy"),
                       json_get(old, "preemptionPolicy"), "preemptionPolicy");
        return;
    }
    validate_value(errors, class_);
    if (!str_eq(policy, "Never") && !str_eq(policy, "PreemptLowerPriority"))
        field_unsupported(errors, "preemptionPolicy", policy, policies);
}

static const struct kube_column CLASS_COLUMNS[] = {
    COLUMN_NAME,
    COLUMN_INT("Value", "The priority of its pods.", table_priority_value),
    {"Global-Default", "boolean", "", "Whether pods without priorityClassName get this class.", 0,
     table_priority_global},
    COLUMN_AGE,
};

/* clang-format off */

KUBE_KIND(KUBE_PRIORITYCLASSES, KUBE_PRIORITYCLASS_KIND, "scheduling.k8s.io", "v1",
        "priorityclasses", "PriorityClass", CLUSTER_WIDE,
    .schema = &TYPE_PRIORITY_CLASS,
    .singular = "priorityclass",
    .short_names = NAMES("pc"),
    .verbs = VERBS_ALL,
    .generation = true,
    .columns = COLUMNS(CLASS_COLUMNS),
    .hooks = {.validate = priority_class_validate});
