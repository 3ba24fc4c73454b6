/* Types of resource quotas and limit ranges. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE(LIMIT_RANGE_ITEM, CORE "LimitRangeItem", "limits for containers, pods or claims",
    TEXT(1, "type",
        "the kind that is limited: Container, Pod or PersistentVolumeClaim", REQUIRED, ALWAYS),
    MAP_OF(2, "max", TYPE_QUANTITY, "the maximum of each resource"),
    MAP_OF(3, "min", TYPE_QUANTITY, "the minimum of each resource"),
    MAP_OF(4, "default", TYPE_QUANTITY, "the default limits of containers"),
    MAP_OF(5, "defaultRequest", TYPE_QUANTITY, "the default requests of containers"),
    MAP_OF(6, "maxLimitRequestRatio", TYPE_QUANTITY, "the maximum ratio of limit to request"));

LOCAL_TYPE(LIMIT_RANGE_SPEC, CORE "LimitRangeSpec", "the limits of a LimitRange",
    LIST(1, "limits", LIMIT_RANGE_ITEM, "the limits, one entry per kind", REQUIRED, ALWAYS));

TYPE(TYPE_LIMIT_RANGE, CORE "LimitRange", "limits for each container, pod and claim in a namespace",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", LIMIT_RANGE_SPEC, "the limits"));

LOCAL_TYPE(SCOPED_RESOURCE_SELECTOR_REQUIREMENT, CORE "ScopedResourceSelectorRequirement",
        "a requirement on the objects that are counted",
    TEXT(1, "scopeName", "the name of the scope, such as PriorityClass", REQUIRED, ALWAYS),
    TEXT(2, "operator", "the operator: In, NotIn, Exists or DoesNotExist", REQUIRED, ALWAYS),
    TEXTS(3, "values", "the values; only for the operators In and NotIn"));

LOCAL_TYPE_ATOMIC(SCOPE_SELECTOR, CORE "ScopeSelector", "selects the objects that a quota counts",
    LIST(1, "matchExpressions", SCOPED_RESOURCE_SELECTOR_REQUIREMENT,
        "requirements that an object must all meet"));

LOCAL_TYPE(RESOURCE_QUOTA_SPEC, CORE "ResourceQuotaSpec", "the limits of a ResourceQuota",
    MAP_OF(1, "hard", TYPE_QUANTITY, "the maximum of each resource"),
    TEXTS(2, "scopes", "the scopes; only objects that match all of them are counted"),
    OBJECT(3, "scopeSelector", SCOPE_SELECTOR, "selects the objects that are counted"));

LOCAL_TYPE(RESOURCE_QUOTA_STATUS, CORE "ResourceQuotaStatus",
        "the limits and the current usage of a ResourceQuota",
    MAP_OF(1, "hard", TYPE_QUANTITY, "the maximum of each resource"),
    MAP_OF(2, "used", TYPE_QUANTITY, "the current usage of each resource"));

TYPE(TYPE_RESOURCE_QUOTA, CORE "ResourceQuota",
        "limits for the total resource usage in a namespace",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", RESOURCE_QUOTA_SPEC, "the limits"),
    STRUCT(3, "status", RESOURCE_QUOTA_STATUS, "the limits and the current usage"));
