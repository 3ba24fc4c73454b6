/* Types of reviews, and of what clients send to subresources. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE(BOUND_OBJECT_REFERENCE, AUTHENTICATION "BoundObjectReference",
        "the object that a token ends with",
    TEXT(1, "kind", "Pod, Secret or Node"),
    TEXT(2, "apiVersion", "the group and version of its kind"),
    TEXT(3, "name", "its name"),
    TEXT(4, "uid", "its identity"));

LOCAL_TYPE(TOKEN_REQUEST_SPEC, AUTHENTICATION "TokenRequestSpec", "which token is wanted",
    TEXTS(1, "audiences", "the audiences of the token", ALWAYS),
    INT64(4, "expirationSeconds", "how long it should be good for", IF_SET, FALLBACK("3600")),
    OBJECT(3, "boundObjectRef", BOUND_OBJECT_REFERENCE, "the object it ends with"));

LOCAL_TYPE(TOKEN_REQUEST_STATUS, AUTHENTICATION "TokenRequestStatus", "the token",
    TEXT(1, "token", "the token itself", ALWAYS),
    TIME(2, "expirationTimestamp", "when it ends", ALWAYS));

TYPE(TYPE_TOKEN_REQUEST, AUTHENTICATION "TokenRequest",
        "a request for a token of a service account",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", TOKEN_REQUEST_SPEC, "which token is wanted"),
    STRUCT(3, "status", TOKEN_REQUEST_STATUS, "the token"));

LOCAL_TYPE(USER_INFO, AUTHENTICATION "UserInfo", "a user",
    TEXT(1, "username", "the name"),
    TEXT(2, "uid", "the identity"),
    TEXTS(3, "groups", "the groups"),
    MAP_OF(4, "extra", TYPE_TEXT_LIST, "what else is known"));

LOCAL_TYPE(SELF_SUBJECT_REVIEW_STATUS, AUTHENTICATION "SelfSubjectReviewStatus",
        "the user that sent the review",
    STRUCT(1, "userInfo", USER_INFO, "the user"));

TYPE(TYPE_SELF_SUBJECT_REVIEW, AUTHENTICATION "SelfSubjectReview",
        "asks for the user of the request",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "status", SELF_SUBJECT_REVIEW_STATUS, "the answer"));

LOCAL_TYPE(FIELD_SELECTOR_REQUIREMENT, META "FieldSelectorRequirement",
        "something that must hold for a field",
    TEXT(1, "key", "the field", REQUIRED, ALWAYS),
    TEXT(2, "operator", "how it is compared with the values", REQUIRED, ALWAYS),
    TEXTS(3, "values", "the values to compare with"));

LOCAL_TYPE(FIELD_SELECTOR_ATTRIBUTES, AUTHORIZATION "FieldSelectorAttributes",
        "the field selector of a request",
    TEXT(1, "rawSelector", "the selector as text"),
    LIST(2, "requirements", FIELD_SELECTOR_REQUIREMENT, "the selector, read"));

LOCAL_TYPE(LABEL_SELECTOR_ATTRIBUTES, AUTHORIZATION "LabelSelectorAttributes",
        "the label selector of a request",
    TEXT(1, "rawSelector", "the selector as text"),
    LIST(2, "requirements", TYPE_LABEL_SELECTOR_REQUIREMENT, "the selector, read"));

LOCAL_TYPE(RESOURCE_ATTRIBUTES, AUTHORIZATION "ResourceAttributes",
        "a request for a resource",
    TEXT(1, "namespace", "in which namespace; default: all"),
    TEXT(2, "verb", "the verb, such as get; * is every verb"),
    TEXT(3, "group", "the group of the resource; * is all"),
    TEXT(4, "version", "its version; * is all"),
    TEXT(5, "resource", "the resource; * is all"),
    TEXT(6, "subresource", "the subresource"),
    TEXT(7, "name", "the name of the object; default: all"),
    OBJECT(8, "fieldSelector", FIELD_SELECTOR_ATTRIBUTES, "only objects with such fields"),
    OBJECT(9, "labelSelector", LABEL_SELECTOR_ATTRIBUTES, "only objects with such labels"));

LOCAL_TYPE(NON_RESOURCE_ATTRIBUTES, AUTHORIZATION "NonResourceAttributes",
        "a request for a path outside of the API",
    TEXT(1, "path", "the path"),
    TEXT(2, "verb", "the method, such as get"));

LOCAL_TYPE(SELF_SUBJECT_ACCESS_REVIEW_SPEC, AUTHORIZATION "SelfSubjectAccessReviewSpec",
        "what one wants to do; one of these",
    OBJECT(1, "resourceAttributes", RESOURCE_ATTRIBUTES, "something with a resource"),
    OBJECT(2, "nonResourceAttributes", NON_RESOURCE_ATTRIBUTES, "something with a path"));

LOCAL_TYPE(SUBJECT_ACCESS_REVIEW_STATUS, AUTHORIZATION "SubjectAccessReviewStatus",
        "whether it is allowed",
    BOOL(1, "allowed", "it is allowed", REQUIRED, ALWAYS),
    BOOL(4, "denied", "it is forbidden, and nothing else may allow it"),
    TEXT(2, "reason", "why, as a sentence"),
    TEXT(3, "evaluationError", "what went wrong while it was worked out"));

TYPE(TYPE_SELF_SUBJECT_ACCESS_REVIEW, AUTHORIZATION "SelfSubjectAccessReview",
        "the question whether one may do something",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", SELF_SUBJECT_ACCESS_REVIEW_SPEC, "what one wants to do", REQUIRED),
    STRUCT(3, "status", SUBJECT_ACCESS_REVIEW_STATUS, "the answer"));

LOCAL_TYPE(SELF_SUBJECT_RULES_REVIEW_SPEC, AUTHORIZATION "SelfSubjectRulesReviewSpec",
        "the namespace of the question",
    TEXT(1, "namespace", "in which namespace"));

LOCAL_TYPE(RESOURCE_RULE, AUTHORIZATION "ResourceRule", "what one may do with resources",
    TEXTS(1, "verbs", "what may be done", REQUIRED, ALWAYS),
    TEXTS(2, "apiGroups", "the groups of the resources; * is any"),
    TEXTS(3, "resources", "the resources; * is any"),
    TEXTS(4, "resourceNames", "only the objects of these names"));

LOCAL_TYPE(NON_RESOURCE_RULE, AUTHORIZATION "NonResourceRule", "what one may do with paths",
    TEXTS(1, "verbs", "what may be done", REQUIRED, ALWAYS),
    TEXTS(2, "nonResourceURLs", "the paths"));

LOCAL_TYPE(SUBJECT_RULES_REVIEW_STATUS, AUTHORIZATION "SubjectRulesReviewStatus",
        "all that one may do",
    LIST(1, "resourceRules", RESOURCE_RULE, "with resources", REQUIRED, ALWAYS),
    LIST(2, "nonResourceRules", NON_RESOURCE_RULE, "with paths", REQUIRED, ALWAYS),
    BOOL(3, "incomplete", "true: there may be more", REQUIRED, ALWAYS),
    TEXT(4, "evaluationError", "what went wrong while it was worked out"));

TYPE(TYPE_SELF_SUBJECT_RULES_REVIEW, AUTHORIZATION "SelfSubjectRulesReview",
        "the question what one may do in a namespace",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", SELF_SUBJECT_RULES_REVIEW_SPEC, "which namespace", REQUIRED),
    STRUCT(3, "status", SUBJECT_RULES_REVIEW_STATUS, "the answer"));

LOCAL_TYPE(SCALE_SPEC, AUTOSCALING "ScaleSpec", "how many are wanted",
    INT32(1, "replicas", "the number"));

LOCAL_TYPE(SCALE_STATUS, AUTOSCALING "ScaleStatus", "the number of pods",
    INT32(1, "replicas", "the number", REQUIRED, ALWAYS),
    TEXT(2, "selector", "the selector of the pods, as text"));

TYPE(TYPE_SCALE, AUTOSCALING "Scale", "the number of replicas of another object",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", SCALE_SPEC, "how many are wanted"),
    STRUCT(3, "status", SCALE_STATUS, "the number of pods"));

TYPE(TYPE_EVICTION, POLICY "Eviction", "the wish that a pod leaves its node",
    KIND_ROWS,
    METADATA(1),
    OBJECT(2, "deleteOptions", TYPE_DELETE_OPTIONS, "how it is deleted"));
