/* Deployments and ReplicaSets. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

LOCAL_TYPE(ROLLING_UPDATE_DEPLOYMENT, APPS "RollingUpdateDeployment", "",
    INT_OR_TEXT(1, "maxUnavailable", "", IF_SET),
    INT_OR_TEXT(2, "maxSurge", "", IF_SET));

LOCAL_TYPE(DEPLOYMENT_STRATEGY, APPS "DeploymentStrategy", "",
    TEXT(1, "type", "", WORDS("Recreate", "RollingUpdate"), FALLBACK("\"RollingUpdate\"")),
    OBJECT(2, "rollingUpdate", ROLLING_UPDATE_DEPLOYMENT, ""));

LOCAL_TYPE(DEPLOYMENT_SPEC, APPS "DeploymentSpec", "",
    INT32(1, "replicas", "", IF_SET, FALLBACK("1")),
    OBJECT(2, "selector", TYPE_LABEL_SELECTOR, ""),
    STRUCT(3, "template", TYPE_POD_TEMPLATE_SPEC, "", REQUIRED),
    STRUCT(4, "strategy", DEPLOYMENT_STRATEGY, "", RETAIN),
    INT32(5, "minReadySeconds", ""),
    INT32(6, "revisionHistoryLimit", "", IF_SET, FALLBACK("10")),
    BOOL(7, "paused", ""),
    INT32(9, "progressDeadlineSeconds", "", IF_SET, FALLBACK("600")));

LOCAL_TYPE(DEPLOYMENT_CONDITION, APPS "DeploymentCondition", "",
    TEXT(1, "type", "", REQUIRED, ALWAYS),
    TEXT(2, "status", "", REQUIRED, ALWAYS),
    TIME(6, "lastUpdateTime", ""),
    TIME(7, "lastTransitionTime", ""),
    TEXT(4, "reason", ""),
    TEXT(5, "message", ""));

LOCAL_TYPE(DEPLOYMENT_STATUS, APPS "DeploymentStatus", "",
    INT64(1, "observedGeneration", ""),
    INT32(2, "replicas", ""),
    INT32(3, "updatedReplicas", ""),
    INT32(7, "readyReplicas", ""),
    INT32(4, "availableReplicas", ""),
    INT32(5, "unavailableReplicas", ""),
    INT32(9, "terminatingReplicas", "", IF_SET),
    LIST(6, "conditions", DEPLOYMENT_CONDITION, "", KEYS("type"), MERGE("type")),
    INT32(8, "collisionCount", "", IF_SET));

TYPE(TYPE_DEPLOYMENT, APPS "Deployment", "",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", DEPLOYMENT_SPEC, ""),
    STRUCT(3, "status", DEPLOYMENT_STATUS, ""));

LOCAL_TYPE(REPLICA_SET_SPEC, APPS "ReplicaSetSpec", "",
    INT32(1, "replicas", "", IF_SET, FALLBACK("1")),
    INT32(4, "minReadySeconds", ""),
    OBJECT(2, "selector", TYPE_LABEL_SELECTOR, ""),
    STRUCT(3, "template", TYPE_POD_TEMPLATE_SPEC, ""));

LOCAL_TYPE(REPLICA_SET_CONDITION, APPS "ReplicaSetCondition", "",
    TEXT(1, "type", "", REQUIRED, ALWAYS),
    TEXT(2, "status", "", REQUIRED, ALWAYS),
    TIME(3, "lastTransitionTime", ""),
    TEXT(4, "reason", ""),
    TEXT(5, "message", ""));

LOCAL_TYPE(REPLICA_SET_STATUS, APPS "ReplicaSetStatus", "",
    INT32(1, "replicas", "", REQUIRED, ALWAYS),
    INT32(2, "fullyLabeledReplicas", ""),
    INT32(4, "readyReplicas", ""),
    INT32(5, "availableReplicas", ""),
    INT32(7, "terminatingReplicas", "", IF_SET),
    INT64(3, "observedGeneration", ""),
    LIST(6, "conditions", REPLICA_SET_CONDITION, "", KEYS("type"), MERGE("type")));

TYPE(TYPE_REPLICA_SET, APPS "ReplicaSet", "",
    KIND_ROWS,
    METADATA(1),
    STRUCT(2, "spec", REPLICA_SET_SPEC, ""),
    STRUCT(3, "status", REPLICA_SET_STATUS, ""));
