/* Types of Deployments and ReplicaSets. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE(ROLLING_UPDATE_DEPLOYMENT, APPS "RollingUpdateDeployment",
        "how fast old pods are replaced",
    INT_OR_TEXT(1, "maxUnavailable", "how many pods may be missing meanwhile, as a number or share",
        IF_SET),
    INT_OR_TEXT(2, "maxSurge",
        "how many pods may exist above the desired number meanwhile, as a number or share",
            IF_SET));

LOCAL_TYPE(DEPLOYMENT_STRATEGY, APPS "DeploymentStrategy", "how old pods are replaced by new ones",
    TEXT(1, "type", "Recreate: all end before the new ones start; RollingUpdate: gradually",
        WORDS("Recreate", "RollingUpdate"), FALLBACK("\"RollingUpdate\"")),
    OBJECT(2, "rollingUpdate", ROLLING_UPDATE_DEPLOYMENT, "how fast, of RollingUpdate"));

LOCAL_TYPE(DEPLOYMENT_SPEC, APPS "DeploymentSpec",
        "which pods are wanted, and how changes reach them",
    INT32(1, "replicas", "how many pods are wanted", IF_SET, FALLBACK("1")),
    OBJECT(2, "selector", TYPE_LABEL_SELECTOR, "which pods are its own; cannot be changed",
        REQUIRED),
    STRUCT(3, "template", TYPE_POD_TEMPLATE_SPEC,
        "the template of its pods; a change replaces them",
        REQUIRED),
    STRUCT(4, "strategy", DEPLOYMENT_STRATEGY, "how old pods are replaced by new ones", RETAIN),
    INT32(5, "minReadySeconds", "how long a new pod must be ready before it counts"),
    INT32(6, "revisionHistoryLimit", "how many old replica sets are kept to go back to", IF_SET,
        FALLBACK("10")),
    BOOL(7, "paused", "true: changes of the template wait"),
    INT32(9, "progressDeadlineSeconds",
        "how many seconds without progress before it counts as failed",
        IF_SET, FALLBACK("600")));

LOCAL_TYPE(DEPLOYMENT_CONDITION, APPS "DeploymentCondition",
        "a condition of a deployment",
    TEXT(1, "type",
        "the type of the condition, such as Available or Progressing", REQUIRED, ALWAYS),
    TEXT(2, "status", "the status of the condition: True, False or Unknown", REQUIRED, ALWAYS),
    TIME(6, "lastUpdateTime", "when the condition was last updated", ALWAYS),
    TIME(7, "lastTransitionTime", "when the status last changed", ALWAYS),
    TEXT(4, "reason", "the reason as one word, for programs"),
    TEXT(5, "message", "the reason as a sentence, for people"));

LOCAL_TYPE(DEPLOYMENT_STATUS, APPS "DeploymentStatus", "the present state of a deployment",
    INT64(1, "observedGeneration", "the newest generation that was acted on"),
    INT32(2, "replicas", "how many pods there are"),
    INT32(3, "updatedReplicas", "how many of them have the newest template"),
    INT32(7, "readyReplicas", "how many of them are ready"),
    INT32(4, "availableReplicas", "how many have been ready for long enough"),
    INT32(5, "unavailableReplicas", "how many are missing or not ready for long enough"),
    INT32(9, "terminatingReplicas", "how many are about to end", IF_SET),
    LIST(6, "conditions", DEPLOYMENT_CONDITION, "its conditions", KEYS("type"), MERGE("type")),
    INT32(8, "collisionCount", "counts collisions of the names of replica sets", IF_SET));

TYPE(TYPE_DEPLOYMENT, APPS "Deployment",
        "identical pods that are replaced gradually when the template changes",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", DEPLOYMENT_SPEC, "which pods are wanted"),
    STRUCT(3, "status", DEPLOYMENT_STATUS, "its present state"));

LOCAL_TYPE(REPLICA_SET_SPEC, APPS "ReplicaSetSpec", "the desired state",
    INT32(1, "replicas", "how many pods are wanted", IF_SET, FALLBACK("1")),
    INT32(4, "minReadySeconds", "how long a new pod must be ready before it counts"),
    OBJECT(2, "selector", TYPE_LABEL_SELECTOR, "which pods are its own; cannot be changed",
        REQUIRED),
    STRUCT(3, "template", TYPE_POD_TEMPLATE_SPEC, "the template of its pods"));

LOCAL_TYPE(REPLICA_SET_CONDITION, APPS "ReplicaSetCondition",
        "a condition of a replica set",
    TEXT(1, "type", "the type of the condition, such as ReplicaFailure", REQUIRED, ALWAYS),
    TEXT(2, "status", "the status of the condition: True, False or Unknown", REQUIRED, ALWAYS),
    TIME(3, "lastTransitionTime", "when the status last changed", ALWAYS),
    TEXT(4, "reason", "the reason as one word, for programs"),
    TEXT(5, "message", "the reason as a sentence, for people"));

LOCAL_TYPE(REPLICA_SET_STATUS, APPS "ReplicaSetStatus", "the present state of a replica set",
    INT32(1, "replicas", "how many pods there are", REQUIRED, ALWAYS),
    INT32(2, "fullyLabeledReplicas", "how many of them have all labels of the template"),
    INT32(4, "readyReplicas", "how many of them are ready"),
    INT32(5, "availableReplicas", "how many have been ready for long enough"),
    INT32(7, "terminatingReplicas", "how many are about to end", IF_SET),
    INT64(3, "observedGeneration", "the newest generation that was acted on"),
    LIST(6, "conditions", REPLICA_SET_CONDITION, "its conditions", KEYS("type"), MERGE("type")));

TYPE(TYPE_REPLICA_SET, APPS "ReplicaSet", "a number of identical pods",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", REPLICA_SET_SPEC, "the desired state"),
    STRUCT(3, "status", REPLICA_SET_STATUS, "its present state"));
