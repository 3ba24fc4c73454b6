/* Types of resource quotas and limit ranges. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE(LIMIT_RANGE_ITEM, CORE "LimitRangeItem", "limits for one kind of thing",
    TEXT(1, "type",
        "the kind that is limited: Container, Pod or PersistentVolumeClaim", REQUIRED, ALWAYS),
    MAP_OF(2, "max", TYPE_QUANTITY, "the maximum of each resource"),
    MAP_OF(3, "min", TYPE_QUANTITY, "the minimum of each resource"),
    MAP_OF(4, "default", TYPE_QUANTITY, "the limits of containers that give none"),
    MAP_OF(5, "defaultRequest", TYPE_QUANTITY, "the requests of containers that give none"),
    MAP_OF(6, "maxLimitRequestRatio", TYPE_QUANTITY,
        "how many times its request a limit may be at most"));

LOCAL_TYPE(LIMIT_RANGE_SPEC, CORE "LimitRangeSpec", "the limits",
    LIST(1, "limits", LIMIT_RANGE_ITEM, "the limits, each for one kind of thing", REQUIRED,
        ALWAYS));

TYPE(TYPE_LIMIT_RANGE, CORE "LimitRange", "limits for single pods and claims of a namespace",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", LIMIT_RANGE_SPEC, "the limits"));

LOCAL_TYPE(SCOPED_RESOURCE_SELECTOR_REQUIREMENT, CORE "ScopedResourceSelectorRequirement",
        "a requirement on the objects that are counted",
    TEXT(1, "scopeName", "the scope, such as PriorityClass", REQUIRED, ALWAYS),
    TEXT(2, "operator", "In, NotIn, Exists or DoesNotExist", REQUIRED, ALWAYS),
    TEXTS(3, "values", "the values of In and NotIn"));

LOCAL_TYPE_ATOMIC(SCOPE_SELECTOR, CORE "ScopeSelector", "which objects are counted",
    LIST(1, "matchExpressions", SCOPED_RESOURCE_SELECTOR_REQUIREMENT, "all of these must hold"));

LOCAL_TYPE(RESOURCE_QUOTA_SPEC, CORE "ResourceQuotaSpec", "how much may be used",
    MAP_OF(1, "hard", TYPE_QUANTITY, "the maximum of each resource"),
    TEXTS(2, "scopes", "only pods for which all of these hold are counted"),
    OBJECT(3, "scopeSelector", SCOPE_SELECTOR, "which objects are counted"));

LOCAL_TYPE(RESOURCE_QUOTA_STATUS, CORE "ResourceQuotaStatus", "how much is used",
    MAP_OF(1, "hard", TYPE_QUANTITY, "the maximum of each resource"),
    MAP_OF(2, "used", TYPE_QUANTITY, "so much of it is used"));

TYPE(TYPE_RESOURCE_QUOTA, CORE "ResourceQuota",
        "how much all objects of a namespace may use together",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", RESOURCE_QUOTA_SPEC, "how much may be used"),
    STRUCT(3, "status", RESOURCE_QUOTA_STATUS, "how much is used"));
