/* Questions to the API, and what is sent to subresources. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE(BOUND_OBJECT_REFERENCE, AUTHENTICATION "BoundObjectReference", "",
    TEXT(1, "kind", ""),
    TEXT(2, "apiVersion", ""),
    TEXT(3, "name", ""),
    TEXT(4, "uid", ""));

LOCAL_TYPE(TOKEN_REQUEST_SPEC, AUTHENTICATION "TokenRequestSpec", "",
    TEXTS(1, "audiences", "", ALWAYS),
    INT64(4, "expirationSeconds", "", IF_SET, FALLBACK("3600")),
    OBJECT(3, "boundObjectRef", BOUND_OBJECT_REFERENCE, ""));

LOCAL_TYPE(TOKEN_REQUEST_STATUS, AUTHENTICATION "TokenRequestStatus", "",
    TEXT(1, "token", "", ALWAYS),
    TIME(2, "expirationTimestamp", "", ALWAYS));

TYPE(TYPE_TOKEN_REQUEST, AUTHENTICATION "TokenRequest", "",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", TOKEN_REQUEST_SPEC, ""),
    STRUCT(3, "status", TOKEN_REQUEST_STATUS, ""));

LOCAL_TYPE(USER_INFO, AUTHENTICATION "UserInfo", "",
    TEXT(1, "username", ""),
    TEXT(2, "uid", ""),
    TEXTS(3, "groups", ""),
    MAP_OF(4, "extra", TYPE_TEXT_LIST, ""));

LOCAL_TYPE(SELF_SUBJECT_REVIEW_STATUS, AUTHENTICATION "SelfSubjectReviewStatus", "",
    STRUCT(1, "userInfo", USER_INFO, ""));

TYPE(TYPE_SELF_SUBJECT_REVIEW, AUTHENTICATION "SelfSubjectReview", "",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "status", SELF_SUBJECT_REVIEW_STATUS, ""));

LOCAL_TYPE(FIELD_SELECTOR_REQUIREMENT, META "FieldSelectorRequirement", "",
    TEXT(1, "key", "", REQUIRED, ALWAYS),
    TEXT(2, "operator", "", REQUIRED, ALWAYS),
    TEXTS(3, "values", ""));

LOCAL_TYPE(FIELD_SELECTOR_ATTRIBUTES, AUTHORIZATION "FieldSelectorAttributes", "",
    TEXT(1, "rawSelector", ""),
    LIST(2, "requirements", FIELD_SELECTOR_REQUIREMENT, ""));

LOCAL_TYPE(LABEL_SELECTOR_ATTRIBUTES, AUTHORIZATION "LabelSelectorAttributes", "",
    TEXT(1, "rawSelector", ""),
    LIST(2, "requirements", TYPE_LABEL_SELECTOR_REQUIREMENT, ""));

LOCAL_TYPE(RESOURCE_ATTRIBUTES, AUTHORIZATION "ResourceAttributes", "",
    TEXT(1, "namespace", ""),
    TEXT(2, "verb", ""),
    TEXT(3, "group", ""),
    TEXT(4, "version", ""),
    TEXT(5, "resource", ""),
    TEXT(6, "subresource", ""),
    TEXT(7, "name", ""),
    OBJECT(8, "fieldSelector", FIELD_SELECTOR_ATTRIBUTES, ""),
    OBJECT(9, "labelSelector", LABEL_SELECTOR_ATTRIBUTES, ""));

LOCAL_TYPE(NON_RESOURCE_ATTRIBUTES, AUTHORIZATION "NonResourceAttributes", "",
    TEXT(1, "path", ""),
    TEXT(2, "verb", ""));

LOCAL_TYPE(SELF_SUBJECT_ACCESS_REVIEW_SPEC, AUTHORIZATION "SelfSubjectAccessReviewSpec", "",
    OBJECT(1, "resourceAttributes", RESOURCE_ATTRIBUTES, ""),
    OBJECT(2, "nonResourceAttributes", NON_RESOURCE_ATTRIBUTES, ""));

LOCAL_TYPE(SUBJECT_ACCESS_REVIEW_STATUS, AUTHORIZATION "SubjectAccessReviewStatus", "",
    BOOL(1, "allowed", "", REQUIRED, ALWAYS),
    BOOL(4, "denied", ""),
    TEXT(2, "reason", ""),
    TEXT(3, "evaluationError", ""));

TYPE(TYPE_SELF_SUBJECT_ACCESS_REVIEW, AUTHORIZATION "SelfSubjectAccessReview", "",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", SELF_SUBJECT_ACCESS_REVIEW_SPEC, ""),
    STRUCT(3, "status", SUBJECT_ACCESS_REVIEW_STATUS, ""));

LOCAL_TYPE(SELF_SUBJECT_RULES_REVIEW_SPEC, AUTHORIZATION "SelfSubjectRulesReviewSpec", "",
    TEXT(1, "namespace", ""));

LOCAL_TYPE(RESOURCE_RULE, AUTHORIZATION "ResourceRule", "",
    TEXTS(1, "verbs", "", REQUIRED, ALWAYS),
    TEXTS(2, "apiGroups", ""),
    TEXTS(3, "resources", ""),
    TEXTS(4, "resourceNames", ""));

LOCAL_TYPE(NON_RESOURCE_RULE, AUTHORIZATION "NonResourceRule", "",
    TEXTS(1, "verbs", "", REQUIRED, ALWAYS),
    TEXTS(2, "nonResourceURLs", ""));

LOCAL_TYPE(SUBJECT_RULES_REVIEW_STATUS, AUTHORIZATION "SubjectRulesReviewStatus", "",
    LIST(1, "resourceRules", RESOURCE_RULE, "", REQUIRED, ALWAYS),
    LIST(2, "nonResourceRules", NON_RESOURCE_RULE, "", REQUIRED, ALWAYS),
    BOOL(3, "incomplete", "", REQUIRED, ALWAYS),
    TEXT(4, "evaluationError", ""));

TYPE(TYPE_SELF_SUBJECT_RULES_REVIEW, AUTHORIZATION "SelfSubjectRulesReview", "",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", SELF_SUBJECT_RULES_REVIEW_SPEC, ""),
    STRUCT(3, "status", SUBJECT_RULES_REVIEW_STATUS, ""));

LOCAL_TYPE(SCALE_SPEC, AUTOSCALING "ScaleSpec", "",
    INT32(1, "replicas", ""));

LOCAL_TYPE(SCALE_STATUS, AUTOSCALING "ScaleStatus", "",
    INT32(1, "replicas", "", REQUIRED, ALWAYS),
    TEXT(2, "selector", ""));

TYPE(TYPE_SCALE, AUTOSCALING "Scale", "",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", SCALE_SPEC, ""),
    STRUCT(3, "status", SCALE_STATUS, ""));

TYPE(TYPE_EVICTION, POLICY "Eviction", "",
    KIND_ROWS,
    METADATA(1),
    OBJECT(2, "deleteOptions", TYPE_DELETE_OPTIONS, ""));
