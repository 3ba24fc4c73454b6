/* Types of the sources of environment variables. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

TYPE_ATOMIC(TYPE_OBJECT_FIELD_SELECTOR, CORE "ObjectFieldSelector", "a field of the pod itself",
    TEXT(1, "apiVersion", "the version the path is written for", FALLBACK("\"v1\"")),
    TEXT(2, "fieldPath", "the path of the field, such as metadata.name", REQUIRED, ALWAYS));

TYPE_ATOMIC(TYPE_RESOURCE_FIELD_SELECTOR, CORE "ResourceFieldSelector",
        "an amount that a container requests or may use",
    TEXT(1, "containerName", "which container; default: its own"),
    TEXT(2, "resource", "which amount, such as limits.memory", REQUIRED, ALWAYS),
    QUANTITY(3, "divisor", "the unit it is counted in"));

LOCAL_TYPE_ATOMIC(CONFIG_MAP_KEY_SELECTOR, CORE "ConfigMapKeySelector", "one key of a config map",
    TEXT(INSIDE(1, 1), "name", "the name of the config map"),
    TEXT(2, "key", "which of its keys", REQUIRED, ALWAYS),
    BOOL(3, "optional", "true: the container starts without it, too", IF_SET));

LOCAL_TYPE_ATOMIC(SECRET_KEY_SELECTOR, CORE "SecretKeySelector", "one key of a secret",
    TEXT(INSIDE(1, 1), "name", "the name of the secret"),
    TEXT(2, "key", "which of its keys", REQUIRED, ALWAYS),
    BOOL(3, "optional", "true: the container starts without it, too", IF_SET));

LOCAL_TYPE_ATOMIC(FILE_KEY_SELECTOR, CORE "FileKeySelector", "one variable of a file in a volume",
    TEXT(1, "volumeName", "the volume the file is in", REQUIRED, ALWAYS),
    TEXT(2, "path", "the path of the file in the volume", REQUIRED, ALWAYS),
    TEXT(3, "key", "which variable of the file", REQUIRED, ALWAYS),
    BOOL(4, "optional", "true: the container starts without it, too", IF_SET));

LOCAL_TYPE(ENV_VAR_SOURCE, CORE "EnvVarSource", "where the value of a variable comes from",
    OBJECT(1, "fieldRef", TYPE_OBJECT_FIELD_SELECTOR, "a field of the pod"),
    OBJECT(2, "resourceFieldRef", TYPE_RESOURCE_FIELD_SELECTOR,
        "an amount that a container requests or may use"),
    OBJECT(3, "configMapKeyRef", CONFIG_MAP_KEY_SELECTOR, "a key of a config map"),
    OBJECT(4, "secretKeyRef", SECRET_KEY_SELECTOR, "a key of a secret"),
    OBJECT(5, "fileKeyRef", FILE_KEY_SELECTOR, "a variable of a file in a volume"));

TYPE(TYPE_ENV_VAR, CORE "EnvVar", "one variable of a container's environment",
    TEXT(1, "name", "its name", REQUIRED, ALWAYS),
    TEXT(2, "value", "its value, with $(NAME) for variables defined before it"),
    OBJECT(3, "valueFrom", ENV_VAR_SOURCE, "where its value comes from, if it is not given here"));

LOCAL_TYPE(CONFIG_MAP_ENV_SOURCE, CORE "ConfigMapEnvSource",
        "a config map; its keys become variables",
    TEXT(INSIDE(1, 1), "name", "the name of the config map"),
    BOOL(2, "optional", "true: the container starts without it, too", IF_SET));

LOCAL_TYPE(SECRET_ENV_SOURCE, CORE "SecretEnvSource", "a secret; its keys become variables",
    TEXT(INSIDE(1, 1), "name", "the name of the secret"),
    BOOL(2, "optional", "true: the container starts without it, too", IF_SET));

TYPE(TYPE_ENV_FROM_SOURCE, CORE "EnvFromSource", "a source of many variables at once",
    TEXT(1, "prefix", "the prefix of each variable's name"),
    OBJECT(2, "configMapRef", CONFIG_MAP_ENV_SOURCE, "take them from a config map"),
    OBJECT(3, "secretRef", SECRET_ENV_SOURCE, "take them from a secret"));
