/* Jobs. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE(POD_FAILURE_POLICY_ON_EXIT_CODES_REQUIREMENT, BATCH "PodFailurePolicyOnExitCodesRequirement", "",
    TEXT(1, "containerName", "", IF_SET),
    TEXT(2, "operator", "", REQUIRED, ALWAYS, WORDS("In", "NotIn")),
    LIST_OF(3, "values", TYPE_INT32, "", REQUIRED, ALWAYS, SET));

LOCAL_TYPE(POD_FAILURE_POLICY_ON_POD_CONDITIONS_PATTERN, BATCH "PodFailurePolicyOnPodConditionsPattern", "",
    TEXT(1, "type", "", REQUIRED, ALWAYS),
    TEXT(2, "status", "", ALWAYS));

LOCAL_TYPE(POD_FAILURE_POLICY_RULE, BATCH "PodFailurePolicyRule", "",
    TEXT(1, "action", "", REQUIRED, ALWAYS, WORDS("Count", "FailIndex", "FailJob", "Ignore")),
    OBJECT(2, "onExitCodes", POD_FAILURE_POLICY_ON_EXIT_CODES_REQUIREMENT, ""),
    LIST(3, "onPodConditions", POD_FAILURE_POLICY_ON_POD_CONDITIONS_PATTERN, ""));

LOCAL_TYPE(POD_FAILURE_POLICY, BATCH "PodFailurePolicy", "",
    LIST(1, "rules", POD_FAILURE_POLICY_RULE, "", REQUIRED, ALWAYS));

LOCAL_TYPE(SUCCESS_POLICY_RULE, BATCH "SuccessPolicyRule", "",
    TEXT(1, "succeededIndexes", "", IF_SET),
    INT32(2, "succeededCount", "", IF_SET));

LOCAL_TYPE(SUCCESS_POLICY, BATCH "SuccessPolicy", "",
    LIST(1, "rules", SUCCESS_POLICY_RULE, "", REQUIRED, ALWAYS));

LOCAL_TYPE(JOB_SPEC, BATCH "JobSpec", "",
    INT32(1, "parallelism", "", IF_SET),
    INT32(2, "completions", "", IF_SET),
    INT64(3, "activeDeadlineSeconds", "", IF_SET),
    OBJECT(11, "podFailurePolicy", POD_FAILURE_POLICY, ""),
    OBJECT(16, "successPolicy", SUCCESS_POLICY, ""),
    INT32(7, "backoffLimit", "", IF_SET, FALLBACK("6")),
    INT32(12, "backoffLimitPerIndex", "", IF_SET),
    INT32(13, "maxFailedIndexes", "", IF_SET),
    OBJECT(4, "selector", TYPE_LABEL_SELECTOR, ""),
    BOOL(5, "manualSelector", "", IF_SET),
    STRUCT(6, "template", TYPE_POD_TEMPLATE_SPEC, "", REQUIRED),
    INT32(8, "ttlSecondsAfterFinished", "", IF_SET),
    TEXT(9, "completionMode", "", IF_SET, WORDS("Indexed", "NonIndexed"), FALLBACK("\"NonIndexed\"")),
    BOOL(10, "suspend", "", IF_SET, FALLBACK("false")),
    TEXT(14, "podReplacementPolicy", "", IF_SET, WORDS("Failed", "TerminatingOrFailed")),
    TEXT(15, "managedBy", "", IF_SET));

LOCAL_TYPE(JOB_CONDITION, BATCH "JobCondition", "",
    TEXT(1, "type", "", REQUIRED, ALWAYS),
    TEXT(2, "status", "", REQUIRED, ALWAYS),
    TIME(3, "lastProbeTime", ""),
    TIME(4, "lastTransitionTime", ""),
    TEXT(5, "reason", ""),
    TEXT(6, "message", ""));

LOCAL_TYPE(UNCOUNTED_TERMINATED_PODS, BATCH "UncountedTerminatedPods", "",
    TEXTS(1, "succeeded", "", SET),
    TEXTS(2, "failed", "", SET));

LOCAL_TYPE(JOB_STATUS, BATCH "JobStatus", "",
    LIST(1, "conditions", JOB_CONDITION, "", MERGE("type")),
    TIME(2, "startTime", ""),
    TIME(3, "completionTime", ""),
    INT32(4, "active", ""),
    INT32(5, "succeeded", ""),
    INT32(6, "failed", ""),
    INT32(11, "terminating", "", IF_SET),
    TEXT(7, "completedIndexes", ""),
    TEXT(10, "failedIndexes", "", IF_SET),
    OBJECT(8, "uncountedTerminatedPods", UNCOUNTED_TERMINATED_PODS, ""),
    INT32(9, "ready", "", IF_SET));

TYPE(TYPE_JOB, BATCH "Job", "",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", JOB_SPEC, ""),
    STRUCT(3, "status", JOB_STATUS, ""));
