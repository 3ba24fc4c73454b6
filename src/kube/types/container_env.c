/* Where the environment of a container comes from. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

TYPE_ATOMIC(TYPE_OBJECT_FIELD_SELECTOR, CORE "ObjectFieldSelector", "",
    TEXT(1, "apiVersion", "", FALLBACK("\"v1\"")),
    TEXT(2, "fieldPath", "", REQUIRED, ALWAYS));

TYPE_ATOMIC(TYPE_RESOURCE_FIELD_SELECTOR, CORE "ResourceFieldSelector", "",
    TEXT(1, "containerName", ""),
    TEXT(2, "resource", "", REQUIRED, ALWAYS),
    QUANTITY(3, "divisor", ""));

LOCAL_TYPE_ATOMIC(CONFIG_MAP_KEY_SELECTOR, CORE "ConfigMapKeySelector", "",
    TEXT(INSIDE(1, 1), "name", ""),
    TEXT(2, "key", "", REQUIRED, ALWAYS),
    BOOL(3, "optional", "", IF_SET));

LOCAL_TYPE_ATOMIC(SECRET_KEY_SELECTOR, CORE "SecretKeySelector", "",
    TEXT(INSIDE(1, 1), "name", ""),
    TEXT(2, "key", "", REQUIRED, ALWAYS),
    BOOL(3, "optional", "", IF_SET));

LOCAL_TYPE_ATOMIC(FILE_KEY_SELECTOR, CORE "FileKeySelector", "",
    TEXT(1, "volumeName", "", REQUIRED, ALWAYS),
    TEXT(2, "path", "", REQUIRED, ALWAYS),
    TEXT(3, "key", "", REQUIRED, ALWAYS),
    BOOL(4, "optional", "", IF_SET));

LOCAL_TYPE(ENV_VAR_SOURCE, CORE "EnvVarSource", "",
    OBJECT(1, "fieldRef", TYPE_OBJECT_FIELD_SELECTOR, ""),
    OBJECT(2, "resourceFieldRef", TYPE_RESOURCE_FIELD_SELECTOR, ""),
    OBJECT(3, "configMapKeyRef", CONFIG_MAP_KEY_SELECTOR, ""),
    OBJECT(4, "secretKeyRef", SECRET_KEY_SELECTOR, ""),
    OBJECT(5, "fileKeyRef", FILE_KEY_SELECTOR, ""));

TYPE(TYPE_ENV_VAR, CORE "EnvVar", "",
    TEXT(1, "name", "", REQUIRED, ALWAYS),
    TEXT(2, "value", ""),
    OBJECT(3, "valueFrom", ENV_VAR_SOURCE, ""));

LOCAL_TYPE(CONFIG_MAP_ENV_SOURCE, CORE "ConfigMapEnvSource", "",
    TEXT(INSIDE(1, 1), "name", ""),
    BOOL(2, "optional", "", IF_SET));

LOCAL_TYPE(SECRET_ENV_SOURCE, CORE "SecretEnvSource", "",
    TEXT(INSIDE(1, 1), "name", ""),
    BOOL(2, "optional", "", IF_SET));

TYPE(TYPE_ENV_FROM_SOURCE, CORE "EnvFromSource", "",
    TEXT(1, "prefix", ""),
    OBJECT(2, "configMapRef", CONFIG_MAP_ENV_SOURCE, ""),
    OBJECT(3, "secretRef", SECRET_ENV_SOURCE, ""));
