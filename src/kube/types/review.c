/* Types of reviews, and of the objects that clients send to subresources. See
 * kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE(BOUND_OBJECT_REFERENCE, AUTHENTICATION "BoundObjectReference",
        "an object; the token is invalid after its deletion",
    TEXT(1, "kind", "the kind of the object: Pod, Secret or Node"),
    TEXT(2, "apiVersion", "the API group and version of the object"),
    TEXT(3, "name", "the name of the object"),
    TEXT(4, "uid", "the UID of the object"));

LOCAL_TYPE(TOKEN_REQUEST_SPEC, AUTHENTICATION "TokenRequestSpec",
        "the properties of the requested token",
    TEXTS(1, "audiences", "the audiences of the token", ALWAYS),
    INT64(4, "expirationSeconds", "the requested lifetime of the token in seconds", IF_SET,
        FALLBACK("3600")),
    OBJECT(3, "boundObjectRef", BOUND_OBJECT_REFERENCE,
        "an object; the token is invalid after its deletion"));

LOCAL_TYPE(TOKEN_REQUEST_STATUS, AUTHENTICATION "TokenRequestStatus", "the token that was issued",
    TEXT(1, "token", "the token as text", ALWAYS),
    TIME(2, "expirationTimestamp", "when the token expires", ALWAYS));

TYPE(TYPE_TOKEN_REQUEST, AUTHENTICATION "TokenRequest",
        "a request for a token of a service account",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", TOKEN_REQUEST_SPEC, "the properties of the requested token"),
    STRUCT(3, "status", TOKEN_REQUEST_STATUS, "the token that was issued"));

LOCAL_TYPE(USER_INFO, AUTHENTICATION "UserInfo", "an authenticated user",
    TEXT(1, "username", "the user name"),
    TEXT(2, "uid", "the unique ID of the user"),
    TEXTS(3, "groups", "the groups of the user"),
    MAP_OF(4, "extra", TYPE_TEXT_LIST, "additional attributes of the user"));

LOCAL_TYPE(SELF_SUBJECT_REVIEW_STATUS, AUTHENTICATION "SelfSubjectReviewStatus",
        "the user that sent the request",
    STRUCT(1, "userInfo", USER_INFO, "the attributes of the user"));

TYPE(TYPE_SELF_SUBJECT_REVIEW, AUTHENTICATION "SelfSubjectReview",
        "returns the user that sent the request",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "status", SELF_SUBJECT_REVIEW_STATUS, "the user that sent the request"));

LOCAL_TYPE(FIELD_SELECTOR_REQUIREMENT, META "FieldSelectorRequirement", "a requirement on a field",
    TEXT(1, "key", "the name of the field", REQUIRED, ALWAYS),
    TEXT(2, "operator", "the operator that compares the key with the values", REQUIRED, ALWAYS),
    TEXTS(3, "values", "the values to compare with"));

LOCAL_TYPE(FIELD_SELECTOR_ATTRIBUTES, AUTHORIZATION "FieldSelectorAttributes",
        "the field selector of a request",
    TEXT(1, "rawSelector", "the selector as text"),
    LIST(2, "requirements", FIELD_SELECTOR_REQUIREMENT, "the selector as a list of requirements"));

LOCAL_TYPE(LABEL_SELECTOR_ATTRIBUTES, AUTHORIZATION "LabelSelectorAttributes",
        "the label selector of a request",
    TEXT(1, "rawSelector", "the selector as text"),
    LIST(2, "requirements", TYPE_LABEL_SELECTOR_REQUIREMENT,
        "the selector as a list of requirements"));

LOCAL_TYPE(RESOURCE_ATTRIBUTES, AUTHORIZATION "ResourceAttributes",
        "the attributes of a request for a resource",
    TEXT(1, "namespace", "the namespace; default: all namespaces"),
    TEXT(2, "verb", "the verb, such as get; * is every verb"),
    TEXT(3, "group", "the API group of the resource; * is every group"),
    TEXT(4, "version", "the API version of the resource; * is every version"),
    TEXT(5, "resource", "the resource; * is every resource"),
    TEXT(6, "subresource", "the subresource"),
    TEXT(7, "name", "the name of the object; default: all objects"),
    OBJECT(8, "fieldSelector", FIELD_SELECTOR_ATTRIBUTES, "the field selector of the request"),
    OBJECT(9, "labelSelector", LABEL_SELECTOR_ATTRIBUTES, "the label selector of the request"));

LOCAL_TYPE(NON_RESOURCE_ATTRIBUTES, AUTHORIZATION "NonResourceAttributes",
        "the attributes of a request for a path that is not a resource",
    TEXT(1, "path", "the URL path"),
    TEXT(2, "verb", "the HTTP method in lower case, such as get"));

LOCAL_TYPE(SELF_SUBJECT_ACCESS_REVIEW_SPEC, AUTHORIZATION "SelfSubjectAccessReviewSpec",
        "the request to check: for a resource or for a path",
    OBJECT(1, "resourceAttributes", RESOURCE_ATTRIBUTES,
        "the attributes of a request for a resource"),
    OBJECT(2, "nonResourceAttributes", NON_RESOURCE_ATTRIBUTES,
        "the attributes of a request for a path that is not a resource"));

LOCAL_TYPE(SUBJECT_ACCESS_REVIEW_STATUS, AUTHORIZATION "SubjectAccessReviewStatus",
        "whether the request is allowed",
    BOOL(1, "allowed", "true: the request is allowed", REQUIRED, ALWAYS),
    BOOL(4, "denied", "true: the request is denied, and no other authorizer can allow it"),
    TEXT(2, "reason", "why the request is allowed or denied"),
    TEXT(3, "evaluationError", "an error that occurred during the evaluation"));

TYPE(TYPE_SELF_SUBJECT_ACCESS_REVIEW, AUTHORIZATION "SelfSubjectAccessReview",
        "checks whether the current user may perform a request",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", SELF_SUBJECT_ACCESS_REVIEW_SPEC, "the request to check", REQUIRED),
    STRUCT(3, "status", SUBJECT_ACCESS_REVIEW_STATUS, "whether the request is allowed"));

LOCAL_TYPE(SELF_SUBJECT_RULES_REVIEW_SPEC, AUTHORIZATION "SelfSubjectRulesReviewSpec",
        "the namespace to list permissions for",
    TEXT(1, "namespace", "the name of the namespace"));

LOCAL_TYPE(RESOURCE_RULE, AUTHORIZATION "ResourceRule",
        "a set of verbs that are allowed on a set of resources",
    TEXTS(1, "verbs", "the allowed verbs; * is every verb", REQUIRED, ALWAYS),
    TEXTS(2, "apiGroups", "the API groups of the resources; * is every group"),
    TEXTS(3, "resources", "the resources; * is every resource"),
    TEXTS(4, "resourceNames",
        "names of objects that the rule is limited to; default: all objects"));

LOCAL_TYPE(NON_RESOURCE_RULE, AUTHORIZATION "NonResourceRule",
        "a set of verbs that are allowed on a set of URL paths",
    TEXTS(1, "verbs", "the allowed verbs; * is every verb", REQUIRED, ALWAYS),
    TEXTS(2, "nonResourceURLs", "the URL paths"));

LOCAL_TYPE(SUBJECT_RULES_REVIEW_STATUS, AUTHORIZATION "SubjectRulesReviewStatus",
        "the permissions of the user in the namespace",
    LIST(1, "resourceRules", RESOURCE_RULE, "the permissions for resources", REQUIRED, ALWAYS),
    LIST(2, "nonResourceRules", NON_RESOURCE_RULE, "the permissions for URL paths", REQUIRED,
        ALWAYS),
    BOOL(3, "incomplete", "true: the user may have more permissions", REQUIRED, ALWAYS),
    TEXT(4, "evaluationError", "an error that occurred during the evaluation"));

TYPE(TYPE_SELF_SUBJECT_RULES_REVIEW, AUTHORIZATION "SelfSubjectRulesReview",
        "lists the permissions of the current user in a namespace",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", SELF_SUBJECT_RULES_REVIEW_SPEC, "the namespace to list permissions for",
        REQUIRED),
    STRUCT(3, "status", SUBJECT_RULES_REVIEW_STATUS, "the permissions of the user"));

LOCAL_TYPE(SCALE_SPEC, AUTOSCALING "ScaleSpec", "the desired number of replicas",
    INT32(1, "replicas", "the desired number of replicas"));

LOCAL_TYPE(SCALE_STATUS, AUTOSCALING "ScaleStatus", "the actual number of replicas",
    INT32(1, "replicas", "the actual number of replicas", REQUIRED, ALWAYS),
    TEXT(2, "selector", "the selector of the pods, as text"));

TYPE(TYPE_SCALE, AUTOSCALING "Scale", "the number of replicas of another object",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", SCALE_SPEC, "the desired number of replicas"),
    STRUCT(3, "status", SCALE_STATUS, "the actual number of replicas"));

TYPE(TYPE_EVICTION, POLICY "Eviction", "evicts a pod from its node",
    KIND_ROWS,
    METADATA(1),
    OBJECT(2, "deleteOptions", TYPE_DELETE_OPTIONS, "options for the deletion of the pod"));
