/* Reviews: the rows of the requests in which a client asks for its own identity and rights. They
 * are answered and never stored. */
#include "kube/kinds/row.h"

/* clang-format off */

KUBE_KIND(KUBE_SELFSUBJECTREVIEWS, KUBE_SELFSUBJECTREVIEW_KIND, "authentication.k8s.io", "v1",
        "selfsubjectreviews", "SelfSubjectReview", CLUSTER_WIDE,
    .schema = &TYPE_SELF_SUBJECT_REVIEW,
    .singular = "selfsubjectreview",
    .verbs = VERB_CREATE,
    .transient = true);

KUBE_KIND(KUBE_SELFSUBJECTACCESSREVIEWS, KUBE_SELFSUBJECTACCESSREVIEW_KIND, "authorization.k8s.io",
        "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview", CLUSTER_WIDE,
    .schema = &TYPE_SELF_SUBJECT_ACCESS_REVIEW,
    .singular = "selfsubjectaccessreview",
    .verbs = VERB_CREATE,
    .transient = true);

KUBE_KIND(KUBE_SELFSUBJECTRULESREVIEWS, KUBE_SELFSUBJECTRULESREVIEW_KIND, "authorization.k8s.io",
        "v1", "selfsubjectrulesreviews", "SelfSubjectRulesReview", CLUSTER_WIDE,
    .schema = &TYPE_SELF_SUBJECT_RULES_REVIEW,
    .singular = "selfsubjectrulesreview",
    .verbs = VERB_CREATE,
    .transient = true);
