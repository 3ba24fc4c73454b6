/* Validates changes of a pod; see validate.h. Kubernetes lets a client correct a negative grace
 * period later. Here that is not needed, because a negative grace period becomes 1 on create. */
#include "kube/kinds/pod/validate.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/kinds/rule.h"

/* Returns the spec without the fields that may change after creation. */
static struct json *fixed_part(struct arena *arena, const struct json *pod)
{
    static const char *const lists[] = {"containers", "initContainers"};
    struct json *spec = json_clone(arena, json_get(pod, "spec"));
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
        JSON_EACH (container, json_get(spec, lists[i]))
            json_remove(container, "image");
    }
    json_remove(spec, "activeDeadlineSeconds");
    json_remove(spec, "tolerations");
    json_remove(spec, "schedulingGates");
    return spec;
}

/* Compares all fields except tolerationSeconds, which may change. */
static bool is_same_toleration(const struct json *a, const struct json *b)
{
    static const char *const fields[] = {"key", "operator", "value", "effect"};
    for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
        if (!rule_same(json_get(a, fields[i]), json_get(b, fields[i])))
            return false;
    return true;
}

static bool has_toleration(const struct json *list, const struct json *toleration)
{
    JSON_EACH (other, list) {
        if (is_same_toleration(other, toleration))
            return true;
    }
    return false;
}

static bool has_gate(const struct json *gates, const char *name)
{
    JSON_EACH (gate, gates) {
        if (str_eq(json_get_string(gate, "name", ""), name))
            return true;
    }
    return false;
}

/* Scheduling gates may be removed but not added. */
static void validate_gates(struct field_errors *errors, const struct json *spec,
                           const struct json *before)
{
    size_t position = 0;
    JSON_EACH (gate, json_get(spec, "schedulingGates")) {
        const char *name = json_get_string(gate, "name", "");
        const char *field = field_path(errors, "spec.schedulingGates[%zu].name", position++);
        if (!has_gate(json_get(before, "schedulingGates"), name))
            field_forbidden(errors, field,
                            arena_printf(errors->arena,
                                         "only deletion is allowed, but found new scheduling gate "
                                         "'%s'",
                                         name));
    }
}

void kube_pod_validate_update(struct field_errors *errors, const struct json *pod,
                              const struct json *old)
{
    static const char *const lists[] = {"containers", "initContainers"};
    const struct json *spec = json_get(pod, "spec"), *before = json_get(old, "spec");
    const struct json *deadline = json_get(spec, "activeDeadlineSeconds");
    const struct json *had = json_get(before, "activeDeadlineSeconds");
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
        if (json_count(json_get(spec, lists[i])) == json_count(json_get(before, lists[i])))
            continue;
        field_forbidden(errors, field_path(errors, "spec.%s", lists[i]),
                        "pod updates may not add or remove containers");
        return;
    }
    if (had && !deadline)
        field_invalid(errors, "spec.activeDeadlineSeconds", NULL,
                      "must not update from a positive integer to nil value");
    else if (had && deadline->integer > had->integer)
        field_invalid(errors, "spec.activeDeadlineSeconds", deadline,
                      "must be less than or equal to previous value");
    JSON_EACH (toleration, json_get(before, "tolerations")) {
        if (!has_toleration(json_get(spec, "tolerations"), toleration))
            field_forbidden(errors, "spec.tolerations",
                            "existing toleration can not be modified except its tolerationSeconds");
    }
    validate_gates(errors, spec, before);
    if (errors->count == 0 &&
        !json_equal(fixed_part(errors->arena, pod), fixed_part(errors->arena, old)))
        field_forbidden(errors, "spec",
                        "pod updates may not change fields other than "
                        "`spec.containers[*].image`,`spec.initContainers[*].image`,"
                        "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to "
                        "existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to "
                        "be set to 1 if it was previously negative)");
}
