/* Types of namespaces, ConfigMaps, Secrets and service accounts. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE(NAMESPACE_SPEC, CORE "NamespaceSpec", "what a namespace is to be",
    TEXTS(1, "finalizers", "finalizers that must be removed before the namespace is removed"));

LOCAL_TYPE(NAMESPACE_CONDITION, CORE "NamespaceCondition", "a condition of a namespace",
    TEXT(1, "type",
        "the type of the condition, such as NamespaceContentRemaining", REQUIRED, ALWAYS),
    TEXT(2, "status", "the status of the condition: True, False or Unknown", REQUIRED, ALWAYS),
    TIME(4, "lastTransitionTime", "when the status last changed", ALWAYS),
    TEXT(5, "reason", "the reason as one word, for programs"),
    TEXT(6, "message", "the reason as a sentence, for people"));

LOCAL_TYPE(NAMESPACE_STATUS, CORE "NamespaceStatus", "the present state of a namespace",
    TEXT(1, "phase", "Active, or Terminating while all in it is deleted"),
    LIST(2, "conditions", NAMESPACE_CONDITION, "what keeps it from being gone", KEYS("type"),
        MERGE("type")));

TYPE(TYPE_NAMESPACE, CORE "Namespace",
        "a place for names: objects in different ones may be called the same",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", NAMESPACE_SPEC, "its desired state"),
    STRUCT(3, "status", NAMESPACE_STATUS, "its present state"));

TYPE(TYPE_CONFIG_MAP, CORE "ConfigMap", "settings that pods read as files or variables",
    KIND_ROWS,
    METADATA(1),
    BOOL(4, "immutable", "true: its data can no longer be changed", IF_SET),
    TEXT_MAP(2, "data", "the settings: a text for each key"),
    MAP_OF(3, "binaryData", TYPE_BYTES, "settings that are no text, in base64"));

TYPE(TYPE_SECRET, CORE "Secret", "confidential settings",
    KIND_ROWS,
    METADATA(1),
    BOOL(5, "immutable", "true: its data can no longer be changed", IF_SET),
    MAP_OF(2, "data", TYPE_BYTES, "the settings, in base64"),
    TEXT_MAP(4, "stringData", "settings as plain text; they are written into data and never shown"),
    TEXT(3, "type", "what kind of secret it is, which says the keys it must have",
        FALLBACK("\"Opaque\"")));

TYPE(TYPE_SERVICE_ACCOUNT, CORE "ServiceAccount", "an identity for programs that run in pods",
    KIND_ROWS,
    METADATA(1),
    LIST(2, "secrets", TYPE_OBJECT_REFERENCE, "secrets that its pods may use", KEYS("name"),
        MERGE("name")),
    LIST(3, "imagePullSecrets", TYPE_LOCAL_OBJECT_REFERENCE,
        "secrets with which its pods fetch images"),
    BOOL(4, "automountServiceAccountToken", "false: its pods do not get a token", IF_SET));
