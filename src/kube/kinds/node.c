/* Nodes: their row, defaults and validation. */
#include "kube/kinds/row.h"

#include "base/str.h"
#include "kube/kinds/meta.h"
#include "kube/kinds/node.h"
#include "kube/kinds/rule.h"
#include "kube/object.h"

#include <string.h>

/* podCIDRs are the address ranges of the node's pods, and podCIDR is the first of them. If they
 * differ, podCIDR takes precedence. */
static void node_defaults(struct arena *arena, struct json *node)
{
    struct json *spec = json_get(node, "spec");
    const char *range = json_get_string(spec, "podCIDR", "");
    const char *first = json_text(json_first(json_get(spec, "podCIDRs")));
    if (range[0] && !str_eq(range, first)) {
        struct json *ranges = json_array(arena);
        json_append(ranges, json_string(arena, range));
        json_set(arena, spec, "podCIDRs", ranges);
    } else if (!range[0] && first) {
        json_set_string(arena, spec, "podCIDR", first);
    }
}

/* Adds the taint of a node that is not ready. The taint is removed when the node is ready. */
static void node_create(struct arena *arena, struct json *node)
{
    struct json *taints =
        json_ensure_array(arena, json_ensure_object(arena, node, "spec"), "taints");
    JSON_EACH (taint, taints)
        if (str_eq(json_get_string(taint, "key", ""), TAINT_NOT_READY) &&
            str_eq(json_get_string(taint, "effect", ""), "NoSchedule"))
            return;
    struct json *not_ready = json_object(arena);
    json_set_string(arena, not_ready, "key", TAINT_NOT_READY);
    json_set_string(arena, not_ready, "effect", "NoSchedule");
    json_append(taints, not_ready);
}

/* ---- The spec -------------------------------------------------------------------------------- */

static void validate_taints(struct field_errors *errors, const struct json *taints)
{
    static const char *const effects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute", NULL};
    _cleanup_(map_release) struct map pairs = {0};
    size_t position = 0;
    JSON_EACH (taint, taints) {
        /* Kubernetes uses this path in its messages. */
        const char *field = field_path(errors, "metadata.taints[%zu]", position++);
        const char *key = json_get_string(taint, "key", "");
        const char *effect = json_get_string(taint, "effect", "");
        meta_validate_label_name(errors, key, field_path(errors, "%s.key", field));
        meta_validate_label_value(errors, json_get_string(taint, "value", ""),
                                  field_path(errors, "%s.value", field));
        if (effect[0] == '\0')
            field_required(errors, field_path(errors, "%s.effect", field), NULL);
        rule_word(errors, taint, "effect", effects, field);
        const char *pair = field_path(errors, "%s:%s", key, effect);
        if (rule_seen(&pairs, pair))
            field_duplicate(errors, field, pair);
    }
}

static bool is_version_6(const struct json *range)
{
    return json_text(range) && strchr(range->text, ':');
}

static void validate_ranges(struct field_errors *errors, const struct json *ranges)
{
    const struct json *first = json_first(ranges);
    size_t position = 0, count = json_count(ranges);
    JSON_EACH (range, ranges)
        rule_address_range(errors, range, field_path(errors, "spec.podCIDRs[%zu]", position++));
    if (count > 2 || (count == 2 && is_version_6(first) == is_version_6(first->next)))
        field_invalid(errors, "spec.podCIDRs", ranges,
                      "may specify no more than one CIDR for each IP family");
}

/* ---- Changes --------------------------------------------------------------------------------- */

/* podCIDRs cannot change once they are set, because existing pods have addresses in these ranges.
 * providerID cannot change once it is set, either. */
static void validate_update(struct field_errors *errors, const struct json *spec,
                            const struct json *old)
{
    const char *provider = json_get_string(old, "providerID", "");
    if (json_count(json_get(old, "podCIDRs")) > 0 &&
        !rule_same(json_get(spec, "podCIDRs"), json_get(old, "podCIDRs")))
        field_forbidden(errors, "spec.podCIDRs",
                        "node updates may not change podCIDR except from \"\" to valid");
    if (provider[0] && !str_eq(json_get_string(spec, "providerID", ""), provider))
        field_forbidden(errors, "spec.providerID",
                        "node updates may not change providerID except from \"\" to valid");
}

static void node_validate(struct field_errors *errors, const struct json *node,
                          const struct json *old)
{
    const struct json *spec = json_get(node, "spec");
    validate_taints(errors, json_get(spec, "taints"));
    validate_ranges(errors, json_get(spec, "podCIDRs"));
    if (old)
        validate_update(errors, spec, json_get(old, "spec"));
}

static const struct kube_column NODE_COLUMNS[] = {
    COLUMN_NAME,
    COLUMN_TEXT("Status", "Whether the node is ready and schedulable.", table_node_status),
    COLUMN_TEXT("Roles", "Roles of the node, from its labels.", table_node_roles),
    COLUMN_AGE,
    COLUMN_TEXT("Version", "Kubelet version of the node.", table_node_version),
    COLUMN_WIDE("Internal-IP", "Internal IP address of the node.", table_node_internal_ip),
    COLUMN_WIDE("External-IP", "External IP address of the node.", table_node_external_ip),
    COLUMN_WIDE("OS-Image", "Operating system of the node.", table_node_os_image),
    COLUMN_WIDE("Kernel-Version", "Kernel version of the node.", table_node_kernel),
    COLUMN_WIDE("Container-Runtime", "Name and version of the container runtime.",
                table_node_runtime),
};

/* clang-format off */

KUBE_CORE_KIND(KUBE_NODES, KUBE_NODE_KIND, "nodes", "Node", CLUSTER_WIDE,
    .schema = &TYPE_NODE,
    .singular = "node",
    .short_names = NAMES("no"),
    .fields = NAMES("spec.unschedulable"),
    .verbs = VERBS_ALL,
    .subresources = SUBRESOURCES(PROXY_OF("Node"), STATUS_OF("Node")),
    .columns = COLUMNS(NODE_COLUMNS),
    .hooks = {.defaults = node_defaults,
        .create = node_create,
        .validate = node_validate});
