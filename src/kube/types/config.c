/* Types of namespaces, ConfigMaps, Secrets and service accounts. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE(NAMESPACE_SPEC, CORE "NamespaceSpec", "the desired state of a namespace",
    TEXTS(1, "finalizers", "finalizers that must be removed before the namespace is deleted"));

LOCAL_TYPE(NAMESPACE_CONDITION, CORE "NamespaceCondition", "a condition of a namespace",
    TEXT(1, "type",
        "the type of the condition, such as NamespaceContentRemaining", REQUIRED, ALWAYS),
    TEXT(2, "status", "the status of the condition: True, False or Unknown", REQUIRED, ALWAYS),
    TIME(4, "lastTransitionTime", "when the status last changed", ALWAYS),
    TEXT(5, "reason", "the reason as one word, for programs"),
    TEXT(6, "message", "the reason as a sentence, for people"));

LOCAL_TYPE(NAMESPACE_STATUS, CORE "NamespaceStatus", "the current state of a namespace",
    TEXT(1, "phase", "Active, or Terminating while its objects are deleted"),
    LIST(2, "conditions", NAMESPACE_CONDITION,
        "conditions that delay the deletion of the namespace", KEYS("type"), MERGE("type")));

TYPE(TYPE_NAMESPACE, CORE "Namespace",
        "a scope for names: objects in different namespaces can have the same name",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", NAMESPACE_SPEC, "its desired state"),
    STRUCT(3, "status", NAMESPACE_STATUS, "its current state"));

TYPE(TYPE_CONFIG_MAP, CORE "ConfigMap",
        "configuration data that pods read as files or environment variables",
    KIND_ROWS,
    METADATA(1),
    BOOL(4, "immutable", "true: the data cannot be changed", IF_SET),
    TEXT_MAP(2, "data", "the data: one text per key"),
    MAP_OF(3, "binaryData", TYPE_BYTES, "data that is not UTF-8 text, in base64"));

TYPE(TYPE_SECRET, CORE "Secret", "confidential data, such as passwords or keys",
    KIND_ROWS,
    METADATA(1),
    BOOL(5, "immutable", "true: the data cannot be changed", IF_SET),
    MAP_OF(2, "data", TYPE_BYTES, "the data: one value per key, in base64"),
    TEXT_MAP(4, "stringData", "data as plain text; it is written into data and never returned"),
    TEXT(3, "type", "the type of the secret, which decides the keys that it must have",
        FALLBACK("\"Opaque\"")));

TYPE(TYPE_SERVICE_ACCOUNT, CORE "ServiceAccount", "an identity for processes that run in pods",
    KIND_ROWS,
    METADATA(1),
    LIST(2, "secrets", TYPE_OBJECT_REFERENCE, "secrets that pods of the account may use",
        KEYS("name"), MERGE("name")),
    LIST(3, "imagePullSecrets", TYPE_LOCAL_OBJECT_REFERENCE,
        "secrets for pulling images from private registries"),
    BOOL(4, "automountServiceAccountToken", "false: pods of the account do not get a token",
        IF_SET));
