/* Types of Deployments and ReplicaSets. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE(ROLLING_UPDATE_DEPLOYMENT, APPS "RollingUpdateDeployment",
        "how many pods a rolling update replaces at a time",
    INT_OR_TEXT(1, "maxUnavailable",
        "how many pods may be unavailable during the update, as a number or percentage", IF_SET),
    INT_OR_TEXT(2, "maxSurge",
        "how many pods may exceed the desired number, as a number or percentage", IF_SET));

LOCAL_TYPE(DEPLOYMENT_STRATEGY, APPS "DeploymentStrategy", "how old pods are replaced by new ones",
    TEXT(1, "type", "Recreate: all old pods end before new ones start; RollingUpdate: gradually",
        WORDS("Recreate", "RollingUpdate"), FALLBACK("\"RollingUpdate\"")),
    OBJECT(2, "rollingUpdate", ROLLING_UPDATE_DEPLOYMENT,
        "settings of a rolling update; only for type RollingUpdate"));

LOCAL_TYPE(DEPLOYMENT_SPEC, APPS "DeploymentSpec", "the desired state of a deployment",
    INT32(1, "replicas", "the desired number of pods", IF_SET, FALLBACK("1")),
    OBJECT(2, "selector", TYPE_LABEL_SELECTOR, "the selector of its pods; cannot be changed",
        REQUIRED),
    STRUCT(3, "template", TYPE_POD_TEMPLATE_SPEC,
        "the template of its pods; a change of it replaces the pods", REQUIRED),
    STRUCT(4, "strategy", DEPLOYMENT_STRATEGY, "how old pods are replaced by new ones", RETAIN),
    INT32(5, "minReadySeconds", "seconds that a new pod must be ready to count as available"),
    INT32(6, "revisionHistoryLimit", "how many old replica sets are kept for a rollback", IF_SET,
        FALLBACK("10")),
    BOOL(7, "paused", "true: changes of the template are not rolled out"),
    INT32(9, "progressDeadlineSeconds",
        "seconds without progress before the rollout counts as failed", IF_SET, FALLBACK("600")));

LOCAL_TYPE(DEPLOYMENT_CONDITION, APPS "DeploymentCondition",
        "a condition of a deployment",
    TEXT(1, "type",
        "the type of the condition, such as Available or Progressing", REQUIRED, ALWAYS),
    TEXT(2, "status", "the status of the condition: True, False or Unknown", REQUIRED, ALWAYS),
    TIME(6, "lastUpdateTime", "when the condition was last updated", ALWAYS),
    TIME(7, "lastTransitionTime", "when the status last changed", ALWAYS),
    TEXT(4, "reason", "the reason as one word, for programs"),
    TEXT(5, "message", "the reason as a sentence, for people"));

LOCAL_TYPE(DEPLOYMENT_STATUS, APPS "DeploymentStatus", "the current state of a deployment",
    INT64(1, "observedGeneration",
        "the newest metadata.generation that the controller has processed"),
    INT32(2, "replicas", "the number of pods that exist"),
    INT32(3, "updatedReplicas", "the number of pods that have the newest template"),
    INT32(7, "readyReplicas", "the number of pods that are ready"),
    INT32(4, "availableReplicas", "the number of pods that have been ready for minReadySeconds"),
    INT32(5, "unavailableReplicas", "the number of pods that are missing or not available yet"),
    INT32(9, "terminatingReplicas", "the number of pods that are terminating", IF_SET),
    LIST(6, "conditions", DEPLOYMENT_CONDITION, "the conditions of the deployment", KEYS("type"),
        MERGE("type")),
    INT32(8, "collisionCount", "the number of hash collisions in names of replica sets", IF_SET));

TYPE(TYPE_DEPLOYMENT, APPS "Deployment",
        "identical pods that are replaced gradually when the template changes",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", DEPLOYMENT_SPEC, "the desired state of the deployment"),
    STRUCT(3, "status", DEPLOYMENT_STATUS, "its current state"));

LOCAL_TYPE(REPLICA_SET_SPEC, APPS "ReplicaSetSpec", "the desired state of a replica set",
    INT32(1, "replicas", "the desired number of pods", IF_SET, FALLBACK("1")),
    INT32(4, "minReadySeconds", "seconds that a new pod must be ready to count as available"),
    OBJECT(2, "selector", TYPE_LABEL_SELECTOR, "the selector of its pods; cannot be changed",
        REQUIRED),
    STRUCT(3, "template", TYPE_POD_TEMPLATE_SPEC, "the template of its pods"));

LOCAL_TYPE(REPLICA_SET_CONDITION, APPS "ReplicaSetCondition",
        "a condition of a replica set",
    TEXT(1, "type", "the type of the condition, such as ReplicaFailure", REQUIRED, ALWAYS),
    TEXT(2, "status", "the status of the condition: True, False or Unknown", REQUIRED, ALWAYS),
    TIME(3, "lastTransitionTime", "when the status last changed", ALWAYS),
    TEXT(4, "reason", "the reason as one word, for programs"),
    TEXT(5, "message", "the reason as a sentence, for people"));

LOCAL_TYPE(REPLICA_SET_STATUS, APPS "ReplicaSetStatus", "the current state of a replica set",
    INT32(1, "replicas", "the number of pods that exist", REQUIRED, ALWAYS),
    INT32(2, "fullyLabeledReplicas", "the number of pods that have all labels of the template"),
    INT32(4, "readyReplicas", "the number of pods that are ready"),
    INT32(5, "availableReplicas", "the number of pods that have been ready for minReadySeconds"),
    INT32(7, "terminatingReplicas", "the number of pods that are terminating", IF_SET),
    INT64(3, "observedGeneration",
        "the newest metadata.generation that the controller has processed"),
    LIST(6, "conditions", REPLICA_SET_CONDITION, "the conditions of the replica set", KEYS("type"),
        MERGE("type")));

TYPE(TYPE_REPLICA_SET, APPS "ReplicaSet", "keeps a fixed number of identical pods running",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", REPLICA_SET_SPEC, "the desired state of the replica set"),
    STRUCT(3, "status", REPLICA_SET_STATUS, "its current state"));
