/* Namespaces: their row. A new namespace is active. It has a finalizer, so that it is kept until
 * its content is deleted. */
#include "kube/kinds/row.h"

#include "kube/object.h"

/* Sets the label with the namespace's name, so that a label selector can select the namespace by
 * name. */
static void namespace_defaults(struct arena *arena, struct json *namespace_)
{
    kube_meta_set_label(arena, namespace_, "kubernetes.io/metadata.name",
                        kube_meta_name(namespace_));
}

static void namespace_create(struct arena *arena, struct json *namespace_)
{
    struct json *finalizers = json_array(arena);
    json_append(finalizers, json_string(arena, "kubernetes"));
    json_set(arena, json_ensure_object(arena, namespace_, "spec"), "finalizers", finalizers);
    struct json *status = json_object(arena);
    json_set_string(arena, status, "phase", "Active");
    json_set(arena, namespace_, "status", status);
}

static const struct kube_column NAMESPACE_COLUMNS[] = {
    COLUMN_NAME,
    COLUMN_TEXT("Status", "The phase of the namespace.", table_phase),
    COLUMN_AGE,
};

/* clang-format off */

KUBE_CORE_KIND(KUBE_NAMESPACES, KUBE_NAMESPACE_KIND, "namespaces", "Namespace", CLUSTER_WIDE,
    .schema = &TYPE_NAMESPACE,
    .singular = "namespace",
    .short_names = NAMES("ns"),
    .fields = NAMES("status.phase"),
    .verbs = VERBS_ALL & ~(unsigned)VERB_DELETE_COLLECTION,
    .name_rule = NAME_LABEL,
    .subresources = SUBRESOURCES(
        {.id = SUB_FINALIZE, .name = "finalize", .kind = "Namespace", .verbs = VERB_UPDATE},
        STATUS_OF("Namespace")),
    .columns = COLUMNS(NAMESPACE_COLUMNS),
    .hooks = {.defaults = namespace_defaults,
        .create = namespace_create});
