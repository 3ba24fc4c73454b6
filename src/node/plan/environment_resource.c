/* Implements environment_resource() for resourceFieldRef; see plan/environment.h. Amounts are
 * rounded up. If a container has no limit, the node's capacity is used. If a container has no
 * request, the amount is 0. */
#include "node/plan/environment.h"

#include "base/str.h"
#include "kube/object.h"
#include "kube/quantity.h"

#include <inttypes.h>

static const struct json *environment_find_container(const struct json *pod, const char *name)
{
    static const char *const LISTS[] = {"containers", "initContainers"};
    for (size_t i = 0; i < sizeof(LISTS) / sizeof(LISTS[0]); i++) {
        JSON_EACH (container, json_at(pod, "spec", LISTS[i], NULL)) {
            if (str_eq(json_get_string(container, "name", ""), name))
                return container;
        }
    }
    return NULL;
}

/* Sets `*ret` to the container's amount of a resource such as "limits.cpu". */
static int find_amount(const struct pod_facts *facts, const struct json *container,
                       const char *resource, struct kube_quantity *ret, struct err *err)
{
    bool is_limit = str_has_prefix(resource, "limits.");
    const char *name = str_has_prefix(resource, "requests.") ? resource + 9
                       : is_limit                            ? resource + 7
                                                             : NULL;
    if (!name)
        return err_set(err, ERR_UNSUPPORTED,
                       "resource '%s' does not begin with 'limits.' or 'requests.'", resource);
    const struct json *given =
        json_at(container, "resources", is_limit ? "limits" : "requests", name, NULL);
    if (!given && is_limit)
        given = json_get(facts->capacity, name);
    *ret = (struct kube_quantity){0};
    return given ? kube_quantity_from_json(given, ret, err) : 0;
}

int environment_resource(struct arena *arena, const struct pod_facts *facts,
                         const struct json *container, const struct json *reference,
                         const char **ret, struct err *err)
{
    const char *name = json_get_string(reference, "containerName", "");
    const char *resource = json_get_string(reference, "resource", "");
    struct kube_quantity amount, divisor = {0};
    if (name[0])
        container = environment_find_container(facts->pod, name);
    if (!container)
        return err_set(err, ERR_INVALID, "container %s not found", name);
    if (find_amount(facts, container, resource, &amount, err) < 0 ||
        kube_quantity_from_json(json_get(reference, "divisor"), &divisor, err) < 0)
        return err_wrap(err, "resourceFieldRef");
    if (divisor.nano <= 0)
        kube_quantity_parse("1", &divisor, NULL);
    int64_t units = (int64_t)((amount.nano + divisor.nano - 1) / divisor.nano);
    *ret = arena_printf(arena, "%" PRId64, units);
    return 0;
}
