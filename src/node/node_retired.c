/* Makes the patch for retired nodes; see node_retired.h. The reason and the first words of the
 * message are those of Kubernetes' node controller. */
#include "node/node_retired.h"

#include "base/str.h"
#include "kube/condition.h"
#include "kube/object.h"

static bool node_retired_is_one_of(const char *name, const char *const *names)
{
    for (size_t i = 0; names[i]; i++)
        if (str_eq(names[i], name))
            return true;
    return false;
}

static bool node_retired_is_ours(const struct json *node)
{
    const struct json *info = json_at(node, "status", "nodeInfo", NULL);
    return str_has_prefix(json_get_string(info, "containerRuntimeVersion", ""), "trainyard://");
}

struct json *node_retired_patch(struct arena *arena, const struct json *node,
                                const char *const *names, int64_t now_ms)
{
    const char *name = kube_meta_name(node);
    bool has_change = false;
    if (node_retired_is_one_of(name, names) || !node_retired_is_ours(node))
        return NULL;
    struct json *conditions = json_clone(arena, json_at(node, "status", "conditions", NULL));
    JSON_EACH (condition, conditions) {
        if (str_eq(json_get_string(condition, "status", ""), "Unknown"))
            continue;
        has_change = true;
        const struct kube_condition unknown = {
            .type = json_get_string(condition, "type", ""),
            .status = "Unknown",
            .reason = "NodeStatusUnknown",
            .message = arena_printf(
                arena,
                "Kubelet stopped posting node status: the cluster was started without this node. "
                "Start the cluster with this node again ('trainyard up --nodes'), or remove the "
                "node with 'kubectl drain %s' and 'kubectl delete node %s'",
                name, name),
            .now_ms = now_ms};
        kube_condition_set(arena, conditions, &unknown, 0);
    }
    if (!has_change)
        return NULL;
    struct json *patch = json_object(arena);
    json_set(arena, json_ensure_object(arena, patch, "status"), "conditions", conditions);
    return patch;
}
