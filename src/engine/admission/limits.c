/* What a namespace allows its pods and claims. Hooks of the registry and parts of them, as those of
 * rest_admit.c. */
#include "base/str.h"
#include "engine/admission/limit_range.h"
#include "engine/api/rest.h"
#include "kube/object.h"

#include <stdlib.h>

/* The LimitRanges of the namespace. */
static struct json *load_ranges(struct rest *rest)
{
    struct store_object **stored;
    const struct kube_kind *ranges = &KUBE_LIMITRANGE_KIND;
    size_t count =
        store_list(engine_store(rest->engine),
                   registry_key(rest->arena, ranges, rest->route.namespace_, NULL), &stored);
    struct json *all = json_array(rest->arena);
    for (size_t i = 0; i < count; i++) {
        struct json *range;
        if (rest_read_one(rest, rest->arena, stored[i], &range))
            json_append(all, range);
        store_object_unref(stored[i]);
    }
    free(stored);
    return all;
}

static int forbid(struct rest *rest, const struct json *object, const char *why, struct err *err)
{
    return err_set(err, ERR_FORBIDDEN, "%s \"%s\" is forbidden: %.900s",
                   rest->route.resource->id.plural, kube_meta_name(object), why);
}

int rest_admit_pod_limits(struct rest *rest, struct json *pod, struct err *err)
{
    const struct json *ranges = load_ranges(rest);
    bool changed = false;
    if (limit_range_is_too_much(ranges, pod))
        return forbid(rest, pod,
                      "it has too many containers for the number of limits in the LimitRanges of "
                      "its namespace: use fewer of either",
                      err);
    JSON_EACH (range, ranges)
        changed |= limit_range_fill(rest->arena, range, pod);
    /* A limit by default may be less than what the pod asks for. */
    if (changed)
        rest->route.resource->hooks.validate(&rest->invalid, pod, NULL);
    if (rest->invalid.count > 0)
        return err_set(err, ERR_INVALID, "%s is invalid", rest->route.resource->id.kind);
    JSON_EACH (range, ranges) {
        const char *why = limit_range_refuse_pod(rest->arena, range, pod);
        if (why)
            return forbid(rest, pod, why, err);
    }
    return 0;
}

int rest_admit_claim_limits(struct rest *rest, const struct json *claim, struct err *err)
{
    JSON_EACH (range, load_ranges(rest)) {
        const char *why = limit_range_refuse_claim(rest->arena, range, claim);
        if (why)
            return forbid(rest, claim, why, err);
    }
    return 0;
}
