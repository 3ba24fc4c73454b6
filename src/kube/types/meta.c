/* Metadata, and what the kinds share. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE_ATOMIC(OWNER_REFERENCE, META "OwnerReference", "",
    TEXT(5, "apiVersion", "", REQUIRED, ALWAYS),
    TEXT(1, "kind", "", REQUIRED, ALWAYS),
    TEXT(3, "name", "", REQUIRED, ALWAYS),
    TEXT(4, "uid", "", REQUIRED, ALWAYS),
    BOOL(6, "controller", "", IF_SET),
    BOOL(7, "blockOwnerDeletion", "", IF_SET));

LOCAL_TYPE(MANAGED_FIELDS_ENTRY, META "ManagedFieldsEntry", "",
    TEXT(1, "manager", ""),
    TEXT(2, "operation", ""),
    TEXT(3, "apiVersion", ""),
    TIME(4, "time", ""),
    TEXT(6, "fieldsType", ""),
    ANYTHING(7, "fieldsV1", ""),
    TEXT(8, "subresource", ""));

TYPE(TYPE_OBJECT_META, META "ObjectMeta", "",
    TEXT(1, "name", ""),
    TEXT(2, "generateName", ""),
    TEXT(3, "namespace", ""),
    TEXT(4, "selfLink", ""),
    TEXT(5, "uid", ""),
    TEXT(6, "resourceVersion", ""),
    INT64(7, "generation", ""),
    TIME(8, "creationTimestamp", "", ALWAYS),
    TIME(9, "deletionTimestamp", ""),
    INT64(10, "deletionGracePeriodSeconds", "", IF_SET),
    TEXT_MAP(11, "labels", ""),
    TEXT_MAP(12, "annotations", ""),
    LIST(13, "ownerReferences", OWNER_REFERENCE, "", KEYS("uid"), MERGE("uid")),
    TEXTS(14, "finalizers", "", SET, MERGE("")),
    TEXT(15, "clusterName", ""),
    LIST(17, "managedFields", MANAGED_FIELDS_ENTRY, ""));

TYPE(TYPE_LABEL_SELECTOR_REQUIREMENT, META "LabelSelectorRequirement", "",
    TEXT(1, "key", "", REQUIRED, ALWAYS),
    TEXT(2, "operator", "", REQUIRED, ALWAYS, WORDS("DoesNotExist", "Exists", "In", "NotIn")),
    TEXTS(3, "values", ""));

TYPE_ATOMIC(TYPE_LABEL_SELECTOR, META "LabelSelector", "",
    TEXT_MAP(1, "matchLabels", ""),
    LIST(2, "matchExpressions", TYPE_LABEL_SELECTOR_REQUIREMENT, ""));

TYPE(TYPE_CONDITION, META "Condition", "",
    TEXT(1, "type", "", REQUIRED, ALWAYS),
    TEXT(2, "status", "", REQUIRED, ALWAYS),
    INT64(3, "observedGeneration", ""),
    TIME(4, "lastTransitionTime", "", REQUIRED, ALWAYS),
    TEXT(5, "reason", "", REQUIRED, ALWAYS),
    TEXT(6, "message", "", REQUIRED, ALWAYS));

LOCAL_TYPE(PRECONDITIONS, META "Preconditions", "",
    TEXT(1, "uid", "", IF_SET),
    TEXT(2, "resourceVersion", "", IF_SET));

TYPE(TYPE_DELETE_OPTIONS, META "DeleteOptions", "",
    KIND_ROWS,
    INT64(1, "gracePeriodSeconds", "", IF_SET),
    OBJECT(2, "preconditions", PRECONDITIONS, ""),
    BOOL(3, "orphanDependents", "", IF_SET),
    TEXT(4, "propagationPolicy", "", IF_SET),
    TEXTS(5, "dryRun", ""),
    BOOL(6, "ignoreStoreReadErrorWithClusterBreakingPotential", "", IF_SET));

TYPE_ATOMIC(TYPE_LOCAL_OBJECT_REFERENCE, CORE "LocalObjectReference", "",
    TEXT(1, "name", ""));

TYPE_ATOMIC(TYPE_OBJECT_REFERENCE, CORE "ObjectReference", "",
    TEXT(1, "kind", ""),
    TEXT(2, "namespace", ""),
    TEXT(3, "name", ""),
    TEXT(4, "uid", ""),
    TEXT(5, "apiVersion", ""),
    TEXT(6, "resourceVersion", ""),
    TEXT(7, "fieldPath", ""));

TYPE_ATOMIC(TYPE_TYPED_LOCAL_OBJECT_REFERENCE, CORE "TypedLocalObjectReference", "",
    TEXT(1, "apiGroup", "", IF_SET),
    TEXT(2, "kind", "", REQUIRED, ALWAYS),
    TEXT(3, "name", "", REQUIRED, ALWAYS));

TYPE(TYPE_TYPED_OBJECT_REFERENCE, CORE "TypedObjectReference", "",
    TEXT(1, "apiGroup", "", IF_SET),
    TEXT(2, "kind", "", REQUIRED, ALWAYS),
    TEXT(3, "name", "", REQUIRED, ALWAYS),
    TEXT(4, "namespace", "", IF_SET));

TYPE_ATOMIC(TYPE_SECRET_REFERENCE, CORE "SecretReference", "",
    TEXT(1, "name", ""),
    TEXT(2, "namespace", ""));
