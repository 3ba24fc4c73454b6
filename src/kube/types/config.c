/* Namespaces, and what pods are configured with. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE(NAMESPACE_SPEC, CORE "NamespaceSpec", "",
    TEXTS(1, "finalizers", ""));

LOCAL_TYPE(NAMESPACE_CONDITION, CORE "NamespaceCondition", "",
    TEXT(1, "type", "", REQUIRED, ALWAYS),
    TEXT(2, "status", "", REQUIRED, ALWAYS),
    TIME(4, "lastTransitionTime", ""),
    TEXT(5, "reason", ""),
    TEXT(6, "message", ""));

LOCAL_TYPE(NAMESPACE_STATUS, CORE "NamespaceStatus", "",
    TEXT(1, "phase", ""),
    LIST(2, "conditions", NAMESPACE_CONDITION, "", KEYS("type"), MERGE("type")));

TYPE(TYPE_NAMESPACE, CORE "Namespace", "",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", NAMESPACE_SPEC, ""),
    STRUCT(3, "status", NAMESPACE_STATUS, ""));

TYPE(TYPE_CONFIG_MAP, CORE "ConfigMap", "",
    KIND_ROWS,
    METADATA(1),
    BOOL(4, "immutable", "", IF_SET),
    TEXT_MAP(2, "data", ""),
    MAP_OF(3, "binaryData", TYPE_BYTES, ""));

TYPE(TYPE_SECRET, CORE "Secret", "",
    KIND_ROWS,
    METADATA(1),
    BOOL(5, "immutable", "", IF_SET),
    MAP_OF(2, "data", TYPE_BYTES, ""),
    TEXT_MAP(4, "stringData", ""),
    TEXT(3, "type", "", FALLBACK("\"Opaque\"")));

TYPE(TYPE_SERVICE_ACCOUNT, CORE "ServiceAccount", "",
    KIND_ROWS,
    METADATA(1),
    LIST(2, "secrets", TYPE_OBJECT_REFERENCE, "", KEYS("name"), MERGE("name")),
    LIST(3, "imagePullSecrets", TYPE_LOCAL_OBJECT_REFERENCE, ""),
    BOOL(4, "automountServiceAccountToken", "", IF_SET));
