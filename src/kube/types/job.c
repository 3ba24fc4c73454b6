/* Types of Jobs. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE(POD_FAILURE_POLICY_ON_EXIT_CODES_REQUIREMENT,
        BATCH "PodFailurePolicyOnExitCodesRequirement", "the exit codes that a rule matches",
    TEXT(1, "containerName", "the name of the container; default: every container", IF_SET),
    TEXT(2, "operator", "In: one of the values; NotIn: none of them, and not 0", REQUIRED, ALWAYS,
        WORDS("In", "NotIn")),
    LIST_OF(3, "values", TYPE_INT32, "the exit codes", REQUIRED, ALWAYS, SET));

LOCAL_TYPE(POD_FAILURE_POLICY_ON_POD_CONDITIONS_PATTERN,
        BATCH "PodFailurePolicyOnPodConditionsPattern", "a pod condition that a rule matches",
    TEXT(1, "type", "the type of the condition", REQUIRED, ALWAYS),
    TEXT(2, "status", "the status of the condition; default: True", ALWAYS));

LOCAL_TYPE(POD_FAILURE_POLICY_RULE, BATCH "PodFailurePolicyRule",
        "an action for pods that failed in a certain way",
    TEXT(1, "action",
        "the action: fail the job or the index, ignore the failure, or count it", REQUIRED,
        ALWAYS, WORDS("Count", "FailIndex", "FailJob", "Ignore")),
    OBJECT(2, "onExitCodes", POD_FAILURE_POLICY_ON_EXIT_CODES_REQUIREMENT,
        "the exit codes that the rule matches"),
    LIST(3, "onPodConditions", POD_FAILURE_POLICY_ON_POD_CONDITIONS_PATTERN,
        "the pod conditions that the rule matches"));

LOCAL_TYPE(POD_FAILURE_POLICY, BATCH "PodFailurePolicy",
        "how failed pods are handled, by exit code or condition",
    LIST(1, "rules", POD_FAILURE_POLICY_RULE,
        "the rules in order; the first rule that matches applies", REQUIRED, ALWAYS));

LOCAL_TYPE(SUCCESS_POLICY_RULE, BATCH "SuccessPolicyRule", "the indexes that must succeed",
    TEXT(1, "succeededIndexes", "the indexes that must succeed, such as 0,3-5", IF_SET),
    INT32(2, "succeededCount", "the minimum number of indexes that must succeed", IF_SET));

LOCAL_TYPE(SUCCESS_POLICY, BATCH "SuccessPolicy",
        "when a job succeeds before all of its indexes have succeeded",
    LIST(1, "rules", SUCCESS_POLICY_RULE, "the rules; the job succeeds when one rule is met",
        REQUIRED, ALWAYS));

LOCAL_TYPE(JOB_SPEC, BATCH "JobSpec", "the desired state of a job",
    INT32(1, "parallelism", "the maximum number of pods that run at the same time", IF_SET),
    INT32(2, "completions", "how many pods must succeed; default: one success is enough", IF_SET),
    INT64(3, "activeDeadlineSeconds", "seconds that the job may run before it fails", IF_SET),
    OBJECT(11, "podFailurePolicy", POD_FAILURE_POLICY,
        "how failed pods are handled, by exit code or condition"),
    OBJECT(16, "successPolicy", SUCCESS_POLICY,
        "when the job succeeds before all of its indexes have succeeded"),
    INT32(7, "backoffLimit", "how many pods may fail before the job fails", IF_SET, FALLBACK("6")),
    INT32(12, "backoffLimitPerIndex", "how many pods of an index may fail before the index fails",
        IF_SET),
    INT32(13, "maxFailedIndexes", "how many indexes may fail before the job fails", IF_SET),
    OBJECT(4, "selector", TYPE_LABEL_SELECTOR, "the selector of the job's pods; set by the server"),
    BOOL(5, "manualSelector", "true: the server does not generate the selector", IF_SET),
    STRUCT(6, "template", TYPE_POD_TEMPLATE_SPEC, "the template of its pods", REQUIRED),
    INT32(8, "ttlSecondsAfterFinished", "seconds after which the finished job is deleted", IF_SET),
    TEXT(9, "completionMode",
        "NonIndexed, or Indexed: each pod has an index, and each index must succeed once", IF_SET,
        WORDS("Indexed", "NonIndexed"), FALLBACK("\"NonIndexed\"")),
    BOOL(10, "suspend", "true: no pods are started, and running pods are deleted", IF_SET,
        FALLBACK("false")),
    TEXT(14, "podReplacementPolicy", "whether a terminating pod is replaced before it has ended",
        IF_SET, WORDS("Failed", "TerminatingOrFailed")),
    TEXT(15, "managedBy", "the controller that manages the job; default: the built-in one",
        IF_SET));

LOCAL_TYPE(JOB_CONDITION, BATCH "JobCondition", "a condition of a job",
    TEXT(1, "type",
        "the type of the condition, such as Complete, Failed or Suspended", REQUIRED, ALWAYS),
    TEXT(2, "status", "the status of the condition: True, False or Unknown", REQUIRED, ALWAYS),
    TIME(3, "lastProbeTime", "when the condition was last checked", ALWAYS),
    TIME(4, "lastTransitionTime", "when the status last changed", ALWAYS),
    TEXT(5, "reason", "the reason as one word, for programs"),
    TEXT(6, "message", "the reason as a sentence, for people"));

LOCAL_TYPE(UNCOUNTED_TERMINATED_PODS, BATCH "UncountedTerminatedPods",
        "pods that have ended but are not counted yet",
    TEXTS(1, "succeeded", "the UIDs of pods that succeeded", SET),
    TEXTS(2, "failed", "the UIDs of pods that failed", SET));

LOCAL_TYPE(JOB_STATUS, BATCH "JobStatus", "the current state of a job",
    LIST(1, "conditions", JOB_CONDITION, "the conditions of the job", MERGE("type")),
    TIME(2, "startTime", "when the job was started or resumed"),
    TIME(3, "completionTime", "when the job succeeded"),
    INT32(4, "active", "the number of pods that run or are pending"),
    INT32(5, "succeeded", "the number of pods that have succeeded"),
    INT32(6, "failed", "the number of pods that have failed"),
    INT32(11, "terminating", "the number of pods that are terminating", IF_SET),
    TEXT(7, "completedIndexes", "the indexes that have succeeded, such as 0,3-5"),
    TEXT(10, "failedIndexes", "the indexes that have failed, such as 1,7", IF_SET),
    OBJECT(8, "uncountedTerminatedPods", UNCOUNTED_TERMINATED_PODS,
        "pods that have ended but are not counted yet"),
    INT32(9, "ready", "the number of pods that are ready", IF_SET));

TYPE(TYPE_JOB, BATCH "Job", "runs pods until a number of them have succeeded",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", JOB_SPEC, "its desired state"),
    STRUCT(3, "status", JOB_STATUS, "its current state"));
