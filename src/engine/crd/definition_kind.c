/* Defines the row (struct kube_kind) of CustomResourceDefinitions: how the API serves them; see
 * definition.h. */
#include "engine/crd/definition.h"
#include "kube/kinds/row.h"

static const struct kube_column DEFINITION_COLUMNS[] = {
    COLUMN_NAME,
    {"Created At", "date", "", "When the object was created.", 0, table_created_at},
};

/* clang-format off */

KUBE_KIND(DEFINITION_RESOURCE, DEFINITION_KIND, "apiextensions.k8s.io", "v1",
        "customresourcedefinitions", "CustomResourceDefinition", CLUSTER_WIDE,
    .schema = &TYPE_CUSTOM_RESOURCE_DEFINITION,
    .singular = "customresourcedefinition",
    .short_names = NAMES("crd", "crds"),
    .categories = NAMES("api-extensions"),
    .verbs = VERBS_ALL,
    .subresources = SUBRESOURCES(STATUS_OF("CustomResourceDefinition")),
    .generation = true,
    .columns = COLUMNS(DEFINITION_COLUMNS),
    .hooks = {.defaults = definition_defaults,
        .validate = definition_validate});
