/* Types of Jobs. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE(POD_FAILURE_POLICY_ON_EXIT_CODES_REQUIREMENT,
        BATCH "PodFailurePolicyOnExitCodesRequirement", "exit codes that a rule is about",
    TEXT(1, "containerName", "only of this container; default: any", IF_SET),
    TEXT(2, "operator", "In: one of the values; NotIn: none of them, and not 0", REQUIRED, ALWAYS,
        WORDS("In", "NotIn")),
    LIST_OF(3, "values", TYPE_INT32, "the exit codes", REQUIRED, ALWAYS, SET));

LOCAL_TYPE(POD_FAILURE_POLICY_ON_POD_CONDITIONS_PATTERN,
        BATCH "PodFailurePolicyOnPodConditionsPattern",
        "a condition of a failed pod that a rule is about",
    TEXT(1, "type", "the type of the condition", REQUIRED, ALWAYS),
    TEXT(2, "status", "its status; default: True", ALWAYS));

LOCAL_TYPE(POD_FAILURE_POLICY_RULE, BATCH "PodFailurePolicyRule",
        "what to do about a pod that failed in a certain way",
    TEXT(1, "action",
        "the action: fail the job or the index, ignore the failure, or count it", REQUIRED,
        ALWAYS, WORDS("Count", "FailIndex", "FailJob", "Ignore")),
    OBJECT(2, "onExitCodes", POD_FAILURE_POLICY_ON_EXIT_CODES_REQUIREMENT,
        "the rule holds for these exit codes"),
    LIST(3, "onPodConditions", POD_FAILURE_POLICY_ON_POD_CONDITIONS_PATTERN,
        "the rule holds for pods with one of these conditions"));

LOCAL_TYPE(POD_FAILURE_POLICY, BATCH "PodFailurePolicy",
        "what to do about failed pods, besides counting them",
    LIST(1, "rules", POD_FAILURE_POLICY_RULE, "tried in order; the first that fits decides",
        REQUIRED, ALWAYS));

LOCAL_TYPE(SUCCESS_POLICY_RULE, BATCH "SuccessPolicyRule",
        "when enough of the indexes have succeeded",
    TEXT(1, "succeededIndexes", "indexes that must have succeeded, such as 0,3-5", IF_SET),
    INT32(2, "succeededCount", "how many of them must have", IF_SET));

LOCAL_TYPE(SUCCESS_POLICY, BATCH "SuccessPolicy",
        "when a job has succeeded before all of its indexes have",
    LIST(1, "rules", SUCCESS_POLICY_RULE, "the job has succeeded as soon as one of them holds",
        REQUIRED, ALWAYS));

LOCAL_TYPE(JOB_SPEC, BATCH "JobSpec", "the desired state of a job",
    INT32(1, "parallelism", "how many pods may run at the same time", IF_SET),
    INT32(2, "completions", "how many pods must succeed; not given: one success is enough", IF_SET),
    INT64(3, "activeDeadlineSeconds", "how long the job may run before it fails", IF_SET),
    OBJECT(11, "podFailurePolicy", POD_FAILURE_POLICY,
        "what to do about failed pods, by exit code or condition"),
    OBJECT(16, "successPolicy", SUCCESS_POLICY,
        "when the job has succeeded before all indexes have"),
    INT32(7, "backoffLimit", "how many pods may fail before the job does", IF_SET, FALLBACK("6")),
    INT32(12, "backoffLimitPerIndex", "how many pods may fail of each index before the index does",
        IF_SET),
    INT32(13, "maxFailedIndexes", "how many indexes may fail before the job does", IF_SET),
    OBJECT(4, "selector", TYPE_LABEL_SELECTOR, "which pods are the job's; made by the server"),
    BOOL(5, "manualSelector", "true: the selector is the user's own and is kept", IF_SET),
    STRUCT(6, "template", TYPE_POD_TEMPLATE_SPEC, "the template of its pods", REQUIRED),
    INT32(8, "ttlSecondsAfterFinished", "how long after its end the job is deleted", IF_SET),
    TEXT(9, "completionMode", "Indexed: each pod has a number, and each number must succeed once",
        IF_SET, WORDS("Indexed", "NonIndexed"), FALLBACK("\"NonIndexed\"")),
    BOOL(10, "suspend", "true: no pods are started, and those that run are ended", IF_SET,
        FALLBACK("false")),
    TEXT(14, "podReplacementPolicy", "whether a pod that is ending is replaced before it has ended",
        IF_SET, WORDS("Failed", "TerminatingOrFailed")),
    TEXT(15, "managedBy", "the controller that runs the job, if it is not the built-in one",
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
        "pods that have ended and are not in the counts yet",
    TEXTS(1, "succeeded", "the identities of those that succeeded", SET),
    TEXTS(2, "failed", "the identities of those that failed", SET));

LOCAL_TYPE(JOB_STATUS, BATCH "JobStatus", "the present state of a job",
    LIST(1, "conditions", JOB_CONDITION, "its conditions", MERGE("type")),
    TIME(2, "startTime", "when it was started or resumed"),
    TIME(3, "completionTime", "when it succeeded"),
    INT32(4, "active", "how many pods run or wait to run"),
    INT32(5, "succeeded", "how many pods have succeeded"),
    INT32(6, "failed", "how many pods have failed"),
    INT32(11, "terminating", "how many pods are about to end", IF_SET),
    TEXT(7, "completedIndexes", "the indexes that have succeeded, such as 0,3-5"),
    TEXT(10, "failedIndexes", "the indexes that have failed for good, such as 1,7", IF_SET),
    OBJECT(8, "uncountedTerminatedPods", UNCOUNTED_TERMINATED_PODS,
        "pods that have ended and are counted next"),
    INT32(9, "ready", "how many pods are ready", IF_SET));

TYPE(TYPE_JOB, BATCH "Job", "pods that are run until enough of them have succeeded",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", JOB_SPEC, "its desired state"),
    STRUCT(3, "status", JOB_STATUS, "its present state"));
