/* Types of metadata, and types that several kinds share. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE_ATOMIC(OWNER_REFERENCE, META "OwnerReference", "an object that owns another object",
    TEXT(5, "apiVersion", "the group and version of its kind", REQUIRED, ALWAYS),
    TEXT(1, "kind", "the kind of the object", REQUIRED, ALWAYS),
    TEXT(3, "name", "the name of the object", REQUIRED, ALWAYS),
    TEXT(4, "uid", "the identity of the object", REQUIRED, ALWAYS),
    BOOL(6, "controller", "true: it manages this object; one owner at most", IF_SET),
    BOOL(7, "blockOwnerDeletion", "true: deleted in the foreground it waits for this object",
        IF_SET));

/* Stored as it is, without types for its fields. */
static const struct schema_object FIELDS_V1 = {
    .name = META "FieldsV1",
    .doc = "fields, as members of members whose names begin with f:, k:, v: or i:",
    .fields = (const struct schema_field[]){{0}},
};

LOCAL_TYPE(MANAGED_FIELDS_ENTRY, META "ManagedFieldsEntry", "the fields that one manager owns",
    TEXT(1, "manager", "the name of the manager"),
    TEXT(2, "operation", "how they were set: Apply or Update"),
    TEXT(3, "apiVersion", "the version in which they are named"),
    TIME(4, "time", "when the list last changed"),
    TEXT(6, "fieldsType", "how they are written: FieldsV1"),
    ANYTHING(7, "fieldsV1", "the fields", .value.object = &FIELDS_V1),
    TEXT(8, "subresource", "the subresource through which they were set"));

TYPE(TYPE_OBJECT_META, META "ObjectMeta", "what every object has",
    TEXT(1, "name", "its name; each only once for a kind and namespace"),
    TEXT(2, "generateName", "the prefix of a name that the server completes"),
    TEXT(3, "namespace", "the namespace it is in"),
    TEXT(4, "selfLink", "an address that is no longer filled in"),
    TEXT(5, "uid", "its identity, unique over all objects and times"),
    TEXT(6, "resourceVersion",
        "changes with every write; a write that names an older version is refused"),
    INT64(7, "generation", "counts the changes of the desired state"),
    TIME(8, "creationTimestamp", "when it was made", ALWAYS),
    TIME(9, "deletionTimestamp", "since when it is being deleted"),
    INT64(10, "deletionGracePeriodSeconds", "how long it may take to end", IF_SET),
    TEXT_MAP(11, "labels", "labels, which selectors match"),
    TEXT_MAP(12, "annotations", "annotations for programs and people"),
    LIST(13, "ownerReferences", OWNER_REFERENCE,
        "the objects that own it; it is deleted after they are gone", KEYS("uid"), MERGE("uid")),
    TEXTS(14, "finalizers",
        "the finalizers that must be removed before the object is removed", SET, MERGE("")),
    LIST(17, "managedFields", MANAGED_FIELDS_ENTRY, "the managers of its fields", IF_SET));

TYPE(TYPE_LABEL_SELECTOR_REQUIREMENT, META "LabelSelectorRequirement",
        "a requirement on a label",
    TEXT(1, "key", "the label", REQUIRED, ALWAYS),
    TEXT(2, "operator", "how it is compared with the values", REQUIRED, ALWAYS,
        WORDS("DoesNotExist", "Exists", "In", "NotIn")),
    TEXTS(3, "values", "the values to compare with"));

TYPE_ATOMIC(TYPE_LABEL_SELECTOR, META "LabelSelector", "which objects are meant, by their labels",
    TEXT_MAP(1, "matchLabels", "labels they must have, with these values"),
    LIST(2, "matchExpressions", TYPE_LABEL_SELECTOR_REQUIREMENT,
        "further requirements on their labels"));

TYPE(TYPE_CONDITION, META "Condition", "a condition of an object",
    TEXT(1, "type", "the type of the condition", REQUIRED, ALWAYS),
    TEXT(2, "status", "the status of the condition: True, False or Unknown", REQUIRED, ALWAYS),
    INT64(3, "observedGeneration", "the generation of the object that this was said of"),
    TIME(4, "lastTransitionTime", "when the status last changed", REQUIRED, ALWAYS),
    TEXT(5, "reason", "the reason as one word, for programs", REQUIRED, ALWAYS),
    TEXT(6, "message", "the reason as a sentence, for people", REQUIRED, ALWAYS));

LOCAL_TYPE(PRECONDITIONS, META "Preconditions", "conditions for a deletion",
    TEXT(1, "uid", "only an object of this identity", IF_SET),
    TEXT(2, "resourceVersion", "only this version of it", IF_SET));

TYPE(TYPE_DELETE_OPTIONS, META "DeleteOptions", "how an object is deleted",
    KIND_ROWS,
    INT64(1, "gracePeriodSeconds", "how long it may take to end; 0: at once", IF_SET),
    OBJECT(2, "preconditions", PRECONDITIONS, "the deletion is refused unless these hold"),
    BOOL(3, "orphanDependents", "deprecated: use propagationPolicy", IF_SET),
    TEXT(4, "propagationPolicy",
        "what is done with the objects that it owns: Orphan, Background or Foreground",
        IF_SET),
    TEXTS(5, "dryRun", "All: nothing is deleted, but the answer is the same"),
    BOOL(6, "ignoreStoreReadErrorWithClusterBreakingPotential",
        "true: deletes even what cannot be read any more", IF_SET));

TYPE_ATOMIC(TYPE_LOCAL_OBJECT_REFERENCE, CORE "LocalObjectReference",
        "another object of the same namespace",
    TEXT(1, "name", "the name of the object"));

TYPE_ATOMIC(TYPE_OBJECT_REFERENCE, CORE "ObjectReference", "another object",
    TEXT(1, "kind", "the kind of the object"),
    TEXT(2, "namespace", "the namespace of the object"),
    TEXT(3, "name", "the name of the object"),
    TEXT(4, "uid", "the identity of the object"),
    TEXT(5, "apiVersion", "the group and version of its kind"),
    TEXT(6, "resourceVersion", "the version of the object"),
    TEXT(7, "fieldPath", "which part of the object, such as spec.containers{main}"));

TYPE_ATOMIC(TYPE_TYPED_LOCAL_OBJECT_REFERENCE, CORE "TypedLocalObjectReference",
        "another object of the same namespace and any kind",
    TEXT(1, "apiGroup", "the group of its kind; default: the core", IF_SET),
    TEXT(2, "kind", "the kind of the object", REQUIRED, ALWAYS),
    TEXT(3, "name", "the name of the object", REQUIRED, ALWAYS));

TYPE(TYPE_TYPED_OBJECT_REFERENCE, CORE "TypedObjectReference", "another object of any kind",
    TEXT(1, "apiGroup", "the group of its kind; default: the core", IF_SET),
    TEXT(2, "kind", "the kind of the object", REQUIRED, ALWAYS),
    TEXT(3, "name", "the name of the object", REQUIRED, ALWAYS),
    TEXT(4, "namespace", "the namespace of the object", IF_SET));

TYPE_ATOMIC(TYPE_SECRET_REFERENCE, CORE "SecretReference", "a secret of any namespace",
    TEXT(1, "name", "the name of the secret"),
    TEXT(2, "namespace", "where it is"));
