/* Types of metadata, and types that several kinds share. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE_ATOMIC(OWNER_REFERENCE, META "OwnerReference", "an object that owns another object",
    TEXT(5, "apiVersion", "the API group and version of the object", REQUIRED, ALWAYS),
    TEXT(1, "kind", "the kind of the object", REQUIRED, ALWAYS),
    TEXT(3, "name", "the name of the object", REQUIRED, ALWAYS),
    TEXT(4, "uid", "the UID of the object", REQUIRED, ALWAYS),
    BOOL(6, "controller", "true: the owner controls this object; only one owner can",
        IF_SET),
    BOOL(7, "blockOwnerDeletion", "true: foreground deletion of the owner waits for this object",
        IF_SET));

/* Values of this type are stored as they are, because their fields have no fixed names. */
static const struct schema_object FIELDS_V1 = {
    .name = META "FieldsV1",
    .doc = "a set of fields; each name has the prefix f:, k:, v: or i:",
    .fields = (const struct schema_field[]){{0}},
};

LOCAL_TYPE(MANAGED_FIELDS_ENTRY, META "ManagedFieldsEntry",
        "the fields that one field manager owns",
    TEXT(1, "manager", "the name of the field manager"),
    TEXT(2, "operation", "how the fields were set: Apply or Update"),
    TEXT(3, "apiVersion", "the API version that the field names refer to"),
    TIME(4, "time", "when this entry last changed"),
    TEXT(6, "fieldsType", "the format of the fields: FieldsV1"),
    ANYTHING(7, "fieldsV1", "the fields that the manager owns", .value.object = &FIELDS_V1),
    TEXT(8, "subresource", "the subresource through which the fields were set"));

TYPE(TYPE_OBJECT_META, META "ObjectMeta", "metadata that every object has",
    TEXT(1, "name", "the name of the object, unique per kind and namespace"),
    TEXT(2, "generateName", "a prefix; the server adds a random suffix to make the name"),
    TEXT(3, "namespace", "the namespace of the object"),
    TEXT(4, "selfLink", "deprecated: always empty"),
    TEXT(5, "uid", "the unique ID of the object; never reused"),
    TEXT(6, "resourceVersion",
        "changes with every write; a write with an older version is refused"),
    INT64(7, "generation", "a number that increases with every change of the desired state"),
    TIME(8, "creationTimestamp", "when the object was created", ALWAYS),
    TIME(9, "deletionTimestamp", "when the object is to be deleted; set by a delete request"),
    INT64(10, "deletionGracePeriodSeconds", "the grace period of the deletion in seconds", IF_SET),
    TEXT_MAP(11, "labels", "labels, which selectors can match"),
    TEXT_MAP(12, "annotations", "additional data for tools and people; selectors cannot match it"),
    LIST(13, "ownerReferences", OWNER_REFERENCE,
        "the owners; the object is deleted after all of them are deleted", KEYS("uid"),
        MERGE("uid")),
    TEXTS(14, "finalizers", "finalizers that must be removed before the object is deleted", SET,
        MERGE("")),
    LIST(17, "managedFields", MANAGED_FIELDS_ENTRY, "the fields that each field manager owns",
        IF_SET));

TYPE(TYPE_LABEL_SELECTOR_REQUIREMENT, META "LabelSelectorRequirement",
        "a requirement on a label",
    TEXT(1, "key", "the label key", REQUIRED, ALWAYS),
    TEXT(2, "operator", "the operator that compares the key with the values", REQUIRED, ALWAYS,
        WORDS("DoesNotExist", "Exists", "In", "NotIn")),
    TEXTS(3, "values", "the values to compare with"));

TYPE_ATOMIC(TYPE_LABEL_SELECTOR, META "LabelSelector", "selects objects by their labels",
    TEXT_MAP(1, "matchLabels", "labels and values that an object must have"),
    LIST(2, "matchExpressions", TYPE_LABEL_SELECTOR_REQUIREMENT,
        "requirements that the labels of an object must meet"));

TYPE(TYPE_CONDITION, META "Condition", "a condition of an object",
    TEXT(1, "type", "the type of the condition", REQUIRED, ALWAYS),
    TEXT(2, "status", "the status of the condition: True, False or Unknown", REQUIRED, ALWAYS),
    INT64(3, "observedGeneration", "the metadata.generation that the condition was set for"),
    TIME(4, "lastTransitionTime", "when the status last changed", REQUIRED, ALWAYS),
    TEXT(5, "reason", "the reason as one word, for programs", REQUIRED, ALWAYS),
    TEXT(6, "message", "the reason as a sentence, for people", REQUIRED, ALWAYS));

LOCAL_TYPE(PRECONDITIONS, META "Preconditions", "conditions that must hold for a deletion",
    TEXT(1, "uid", "the UID that the object must have", IF_SET),
    TEXT(2, "resourceVersion", "the resource version that the object must have", IF_SET));

TYPE(TYPE_DELETE_OPTIONS, META "DeleteOptions", "options of a delete request",
    KIND_ROWS,
    INT64(1, "gracePeriodSeconds", "the grace period in seconds; 0: delete immediately", IF_SET),
    OBJECT(2, "preconditions", PRECONDITIONS, "conditions without which the deletion is refused"),
    BOOL(3, "orphanDependents", "deprecated: use propagationPolicy", IF_SET),
    TEXT(4, "propagationPolicy", "how owned objects are handled: Orphan, Background or Foreground",
        IF_SET),
    TEXTS(5, "dryRun", "All: the request is checked, but nothing is deleted"),
    BOOL(6, "ignoreStoreReadErrorWithClusterBreakingPotential",
        "true: the object is deleted even if it cannot be read", IF_SET));

TYPE_ATOMIC(TYPE_LOCAL_OBJECT_REFERENCE, CORE "LocalObjectReference",
        "a reference to an object in the same namespace",
    TEXT(1, "name", "the name of the object"));

TYPE_ATOMIC(TYPE_OBJECT_REFERENCE, CORE "ObjectReference", "a reference to an object",
    TEXT(1, "kind", "the kind of the object"),
    TEXT(2, "namespace", "the namespace of the object"),
    TEXT(3, "name", "the name of the object"),
    TEXT(4, "uid", "the UID of the object"),
    TEXT(5, "apiVersion", "the API group and version of the object"),
    TEXT(6, "resourceVersion", "the resource version of the object"),
    TEXT(7, "fieldPath", "a part of the object, such as spec.containers{main}"));

TYPE_ATOMIC(TYPE_TYPED_LOCAL_OBJECT_REFERENCE, CORE "TypedLocalObjectReference",
        "a reference to an object of any kind in the same namespace",
    TEXT(1, "apiGroup", "the API group of the object; default: the core group", IF_SET),
    TEXT(2, "kind", "the kind of the object", REQUIRED, ALWAYS),
    TEXT(3, "name", "the name of the object", REQUIRED, ALWAYS));

TYPE(TYPE_TYPED_OBJECT_REFERENCE, CORE "TypedObjectReference",
        "a reference to an object of any kind",
    TEXT(1, "apiGroup", "the API group of the object; default: the core group", IF_SET),
    TEXT(2, "kind", "the kind of the object", REQUIRED, ALWAYS),
    TEXT(3, "name", "the name of the object", REQUIRED, ALWAYS),
    TEXT(4, "namespace", "the namespace of the object", IF_SET));

TYPE_ATOMIC(TYPE_SECRET_REFERENCE, CORE "SecretReference",
        "a reference to a secret in any namespace",
    TEXT(1, "name", "the name of the secret"),
    TEXT(2, "namespace", "the namespace of the secret"));
