/* Types of the sources of environment variables. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

TYPE_ATOMIC(TYPE_OBJECT_FIELD_SELECTOR, CORE "ObjectFieldSelector", "a field of the pod",
    TEXT(1, "apiVersion", "the API version that the field path refers to", FALLBACK("\"v1\"")),
    TEXT(2, "fieldPath", "the path of the field, such as metadata.name", REQUIRED, ALWAYS));

TYPE_ATOMIC(TYPE_RESOURCE_FIELD_SELECTOR, CORE "ResourceFieldSelector",
        "a resource request or limit of a container",
    TEXT(1, "containerName", "the name of the container; default: the same container"),
    TEXT(2, "resource", "the request or limit, such as limits.memory", REQUIRED, ALWAYS),
    QUANTITY(3, "divisor", "the unit of the value, such as 1Mi"));

LOCAL_TYPE_ATOMIC(CONFIG_MAP_KEY_SELECTOR, CORE "ConfigMapKeySelector", "one key of a config map",
    TEXT(INSIDE(1, 1), "name", "the name of the config map"),
    TEXT(2, "key", "the key in the config map", REQUIRED, ALWAYS),
    BOOL(3, "optional", "true: the container starts even if it is missing", IF_SET));

LOCAL_TYPE_ATOMIC(SECRET_KEY_SELECTOR, CORE "SecretKeySelector", "one key of a secret",
    TEXT(INSIDE(1, 1), "name", "the name of the secret"),
    TEXT(2, "key", "the key in the secret", REQUIRED, ALWAYS),
    BOOL(3, "optional", "true: the container starts even if it is missing", IF_SET));

LOCAL_TYPE_ATOMIC(FILE_KEY_SELECTOR, CORE "FileKeySelector",
        "a variable that is read from a file in a volume",
    TEXT(1, "volumeName", "the volume that contains the file", REQUIRED, ALWAYS),
    TEXT(2, "path", "the relative path of the file in the volume", REQUIRED, ALWAYS),
    TEXT(3, "key", "the name of the variable in the file", REQUIRED, ALWAYS),
    BOOL(4, "optional", "true: the container starts even if it is missing", IF_SET));

LOCAL_TYPE(ENV_VAR_SOURCE, CORE "EnvVarSource", "the source of a variable's value",
    OBJECT(1, "fieldRef", TYPE_OBJECT_FIELD_SELECTOR, "a field of the pod"),
    OBJECT(2, "resourceFieldRef", TYPE_RESOURCE_FIELD_SELECTOR,
        "a resource request or limit of a container"),
    OBJECT(3, "configMapKeyRef", CONFIG_MAP_KEY_SELECTOR, "a key of a config map"),
    OBJECT(4, "secretKeyRef", SECRET_KEY_SELECTOR, "a key of a secret"),
    OBJECT(5, "fileKeyRef", FILE_KEY_SELECTOR, "a variable that is read from a file in a volume"));

TYPE(TYPE_ENV_VAR, CORE "EnvVar", "an environment variable of a container",
    TEXT(1, "name", "the name of the variable", REQUIRED, ALWAYS),
    TEXT(2, "value", "the value; $(NAME) is replaced by an earlier variable"),
    OBJECT(3, "valueFrom", ENV_VAR_SOURCE, "the source of the value, if value is not set"));

LOCAL_TYPE(CONFIG_MAP_ENV_SOURCE, CORE "ConfigMapEnvSource",
        "a config map whose keys become environment variables",
    TEXT(INSIDE(1, 1), "name", "the name of the config map"),
    BOOL(2, "optional", "true: the container starts even if it is missing", IF_SET));

LOCAL_TYPE(SECRET_ENV_SOURCE, CORE "SecretEnvSource",
        "a secret whose keys become environment variables",
    TEXT(INSIDE(1, 1), "name", "the name of the secret"),
    BOOL(2, "optional", "true: the container starts even if it is missing", IF_SET));

TYPE(TYPE_ENV_FROM_SOURCE, CORE "EnvFromSource",
        "a config map or secret whose keys become environment variables",
    TEXT(1, "prefix", "a prefix for the names of the variables"),
    OBJECT(2, "configMapRef", CONFIG_MAP_ENV_SOURCE, "the config map"),
    OBJECT(3, "secretRef", SECRET_ENV_SOURCE, "the secret"));
