/* Service accounts: their row. */
#include "kube/kinds/row.h"

static const struct kube_column ACCOUNT_COLUMNS[] = {
    COLUMN_NAME,
    {"Secrets", "string", "", "Number of secrets of the account.", 0, table_account_secrets},
    COLUMN_AGE,
};

/* clang-format off */

KUBE_CORE_KIND(KUBE_SERVICEACCOUNTS, KUBE_SERVICEACCOUNT_KIND, "serviceaccounts", "ServiceAccount",
        NAMESPACED,
    .schema = &TYPE_SERVICE_ACCOUNT,
    .singular = "serviceaccount",
    .short_names = NAMES("sa"),
    .verbs = VERBS_ALL,
    .subresources = SUBRESOURCES(
        {.id = SUB_TOKEN,
         .name = "token",
         .kind = "TokenRequest",
         .group = "authentication.k8s.io",
         .version = "v1",
         .schema = &TYPE_TOKEN_REQUEST,
         .verbs = VERB_CREATE}),
    .columns = COLUMNS(ACCOUNT_COLUMNS));
