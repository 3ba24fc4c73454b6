/* Admission by the LimitRanges of the namespace: loads them and applies limit_range.h to a pod or
 * claim; see admission.h. */
#include "base/str.h"
#include "engine/admission/admission.h"
#include "engine/admission/limit_range.h"
#include "kube/object.h"

#include <stdlib.h>

/* Returns the readable LimitRanges of the namespace as an array. */
static struct json *load_ranges(struct api_call *call)
{
    struct store_object **stored;
    const struct kube_kind *ranges = &KUBE_LIMITRANGE_KIND;
    size_t count =
        store_list(engine_store(call->engine),
                   stored_key(call->arena, ranges, call->route.namespace_, NULL), &stored);
    struct json *all = json_array(call->arena);
    for (size_t i = 0; i < count; i++) {
        struct json *range;
        if (api_read_stored(call, call->arena, stored[i], &range))
            json_append(all, range);
        store_object_unref(stored[i]);
    }
    free(stored);
    return all;
}

static int limits_forbid(struct api_call *call, const struct json *object, const char *why,
                         struct err *err)
{
    return err_set(err, ERR_FORBIDDEN, "%s \"%s\" is forbidden: %.900s",
                   call->route.resource->id.plural, kube_meta_name(object), why);
}

int admission_limit_pod(struct api_call *call, struct json *pod, struct err *err)
{
    const struct json *ranges = load_ranges(call);
    bool changed = false;
    if (limit_range_is_too_large(ranges, pod))
        return limits_forbid(
            call, pod,
            "it has too many containers for the number of limits in the LimitRanges of "
            "its namespace: use fewer of either",
            err);
    JSON_EACH (range, ranges)
        changed |= limit_range_set_defaults(call->arena, range, pod);
    /* Validates again, because a default limit may be less than the pod's request. */
    if (changed)
        call->route.resource->hooks.validate(&call->invalid, pod, NULL);
    if (call->invalid.count > 0)
        return err_set(err, ERR_INVALID, "%s is invalid", call->route.resource->id.kind);
    JSON_EACH (range, ranges) {
        const char *why = limit_range_reject_pod(call->arena, range, pod);
        if (why)
            return limits_forbid(call, pod, why, err);
    }
    return 0;
}

int admission_limit_claim(struct api_call *call, const struct json *claim, struct err *err)
{
    JSON_EACH (range, load_ranges(call)) {
        const char *why = limit_range_reject_claim(call->arena, range, claim);
        if (why)
            return limits_forbid(call, claim, why, err);
    }
    return 0;
}
