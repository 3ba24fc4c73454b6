/* Types of Deployments and ReplicaSets. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE(ROLLING_UPDATE_DEPLOYMENT, APPS "RollingUpdateDeployment",
        "how fast old pods are replaced",
    INT_OR_TEXT(1, "maxUnavailable", "how many pods may be missing meanwhile, as a number or share",
        IF_SET),
    INT_OR_TEXT(2, "maxSurge",
        "how many pods there may be too many meanwhile, as a number or share", IF_SET));

LOCAL_TYPE(DEPLOYMENT_STRATEGY, APPS "DeploymentStrategy", "how old pods give way to new ones",
    TEXT(1, "type", "Recreate: all end before the new ones start; RollingUpdate: bit by bit",
        WORDS("Recreate", "RollingUpdate"), FALLBACK("\"RollingUpdate\"")),
    OBJECT(2, "rollingUpdate", ROLLING_UPDATE_DEPLOYMENT, "how fast, of RollingUpdate"));

LOCAL_TYPE(DEPLOYMENT_SPEC, APPS "DeploymentSpec",
        "which pods are wanted, and how changes reach them",
    INT32(1, "replicas", "how many pods are wanted", IF_SET, FALLBACK("1")),
    OBJECT(2, "selector", TYPE_LABEL_SELECTOR, "which pods are its own; cannot be changed",
        REQUIRED),
    STRUCT(3, "template", TYPE_POD_TEMPLATE_SPEC, "what its pods look like; a change replaces them",
        REQUIRED),
    STRUCT(4, "strategy", DEPLOYMENT_STRATEGY, "how old pods give way to new ones", RETAIN),
    INT32(5, "minReadySeconds", "how long a new pod must be ready before it counts"),
    INT32(6, "revisionHistoryLimit", "how many old replica sets are kept to go back to", IF_SET,
        FALLBACK("10")),
    BOOL(7, "paused", "true: changes of the template wait"),
    INT32(9, "progressDeadlineSeconds", "how long nothing may move on before it counts as stuck",
        IF_SET, FALLBACK("600")));

LOCAL_TYPE(DEPLOYMENT_CONDITION, APPS "DeploymentCondition",
        "something that holds for a deployment",
    TEXT(1, "type", "what holds, such as Available or Progressing", REQUIRED, ALWAYS),
    TEXT(2, "status", "whether it is so: True, False or Unknown", REQUIRED, ALWAYS),
    TIME(6, "lastUpdateTime", "when this was last written", ALWAYS),
    TIME(7, "lastTransitionTime", "when the status last became another", ALWAYS),
    TEXT(4, "reason", "why it is so, as one word for programs"),
    TEXT(5, "message", "why it is so, as a sentence for people"));

LOCAL_TYPE(DEPLOYMENT_STATUS, APPS "DeploymentStatus", "the present state of a deployment",
    INT64(1, "observedGeneration", "the newest generation that was acted on"),
    INT32(2, "replicas", "how many pods there are"),
    INT32(3, "updatedReplicas", "how many of them have the newest template"),
    INT32(7, "readyReplicas", "how many of them are ready"),
    INT32(4, "availableReplicas", "how many have been ready for long enough"),
    INT32(5, "unavailableReplicas", "how many are missing or not ready for long enough"),
    INT32(9, "terminatingReplicas", "how many are about to end", IF_SET),
    LIST(6, "conditions", DEPLOYMENT_CONDITION, "what holds for it", KEYS("type"), MERGE("type")),
    INT32(8, "collisionCount", "how often a name for a replica set was taken already", IF_SET));

TYPE(TYPE_DEPLOYMENT, APPS "Deployment",
        "pods that are all alike, replaced bit by bit when they change",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", DEPLOYMENT_SPEC, "which pods are wanted"),
    STRUCT(3, "status", DEPLOYMENT_STATUS, "its present state"));

LOCAL_TYPE(REPLICA_SET_SPEC, APPS "ReplicaSetSpec", "the desired state",
    INT32(1, "replicas", "how many pods are wanted", IF_SET, FALLBACK("1")),
    INT32(4, "minReadySeconds", "how long a new pod must be ready before it counts"),
    OBJECT(2, "selector", TYPE_LABEL_SELECTOR, "which pods are its own; cannot be changed",
        REQUIRED),
    STRUCT(3, "template", TYPE_POD_TEMPLATE_SPEC, "what its pods look like"));

LOCAL_TYPE(REPLICA_SET_CONDITION, APPS "ReplicaSetCondition",
        "something that holds for a replica set",
    TEXT(1, "type", "what holds, such as ReplicaFailure", REQUIRED, ALWAYS),
    TEXT(2, "status", "whether it is so: True, False or Unknown", REQUIRED, ALWAYS),
    TIME(3, "lastTransitionTime", "when the status last became another", ALWAYS),
    TEXT(4, "reason", "why it is so, as one word for programs"),
    TEXT(5, "message", "why it is so, as a sentence for people"));

LOCAL_TYPE(REPLICA_SET_STATUS, APPS "ReplicaSetStatus", "the present state of a replica set",
    INT32(1, "replicas", "how many pods there are", REQUIRED, ALWAYS),
    INT32(2, "fullyLabeledReplicas", "how many of them have all labels of the template"),
    INT32(4, "readyReplicas", "how many of them are ready"),
    INT32(5, "availableReplicas", "how many have been ready for long enough"),
    INT32(7, "terminatingReplicas", "how many are about to end", IF_SET),
    INT64(3, "observedGeneration", "the newest generation that was acted on"),
    LIST(6, "conditions", REPLICA_SET_CONDITION, "what holds for it", KEYS("type"), MERGE("type")));

TYPE(TYPE_REPLICA_SET, APPS "ReplicaSet", "a number of identical pods",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", REPLICA_SET_SPEC, "the desired state"),
    STRUCT(3, "status", REPLICA_SET_STATUS, "its present state"));
