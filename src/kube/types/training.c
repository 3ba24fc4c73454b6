/* Training jobs, as Kubeflow defines them. See kube/types/types.h. */
#include "kube/types/rows.h"
#include "kube/types/types.h"

/* clang-format off */

#define KUBEFLOW "org.kubeflow.v1."
#define NO_QUEUES "there are no queues: a group starts when there is room for it"
#define NO_PRIORITIES "there are no priorities: a group starts when there is room for it"

LOCAL_TYPE(SCHEDULING_POLICY, KUBEFLOW "SchedulingPolicy", "",
    INT32(0, "minAvailable", "", IF_SET),
    TEXT(0, "queue", "", UNSUPPORTED(NO_QUEUES)),
    MAP_OF(0, "minResources", TYPE_QUANTITY, ""),
    TEXT(0, "priorityClass", "", UNSUPPORTED(NO_PRIORITIES)),
    INT32(0, "scheduleTimeoutSeconds", "", IF_SET));

LOCAL_TYPE(RUN_POLICY, KUBEFLOW "RunPolicy", "",
    TEXT(0, "cleanPodPolicy", "", WORDS("", "All", "None", "Running")),
    INT32(0, "ttlSecondsAfterFinished", "", IF_SET),
    INT64(0, "activeDeadlineSeconds", "", IF_SET),
    INT32(0, "backoffLimit", "", IF_SET),
    BOOL(0, "suspend", "", IF_SET),
    TEXT(0, "managedBy", "", IF_SET),
    OBJECT(0, "schedulingPolicy", SCHEDULING_POLICY, ""));

LOCAL_TYPE(REPLICA_SPEC, KUBEFLOW "ReplicaSpec", "",
    INT32(0, "replicas", "", IF_SET),
    TEXT(0, "restartPolicy", "", WORDS("", "Always", "ExitCode", "Never", "OnFailure")),
    STRUCT(0, "template", TYPE_POD_TEMPLATE_SPEC, ""));

LOCAL_TYPE(REPLICA_STATUS, KUBEFLOW "ReplicaStatus", "",
    INT32(0, "active", ""),
    INT32(0, "succeeded", ""),
    INT32(0, "failed", ""),
    TEXT(0, "selector", ""),
    OBJECT(0, "labelSelector", TYPE_LABEL_SELECTOR, ""));

LOCAL_TYPE(JOB_CONDITION, KUBEFLOW "JobCondition", "",
    TEXT(0, "type", "", REQUIRED),
    TEXT(0, "status", "", REQUIRED),
    TEXT(0, "reason", ""),
    TEXT(0, "message", ""),
    TIME(0, "lastUpdateTime", ""),
    TIME(0, "lastTransitionTime", ""));

LOCAL_TYPE(JOB_STATUS, KUBEFLOW "JobStatus", "",
    LIST(0, "conditions", JOB_CONDITION, ""),
    MAP(0, "replicaStatuses", REPLICA_STATUS, ""),
    TIME(0, "startTime", ""),
    TIME(0, "completionTime", ""),
    TIME(0, "lastReconcileTime", ""));

LOCAL_TYPE(TFJOB_SPEC, KUBEFLOW "TFJobSpec", "",
    OBJECT(0, "runPolicy", RUN_POLICY, ""),
    TEXT(0, "successPolicy", "", WORDS("", "AllWorkers", "ChiefWorker")),
    MAP(0, "tfReplicaSpecs", REPLICA_SPEC, "", REQUIRED),
    BOOL(0, "enableDynamicWorker", ""));

TYPE(TYPE_TFJOB, KUBEFLOW "TFJob", "",
    KIND_ROWS,
    METADATA(0),
    OBJECT(0, "spec", TFJOB_SPEC, ""),
    OBJECT(0, "status", JOB_STATUS, ""));

LOCAL_TYPE(RDZV_CONF, KUBEFLOW "RDZVConf", "",
    TEXT(0, "key", ""),
    TEXT(0, "value", ""));

LOCAL_TYPE(ELASTIC_POLICY, KUBEFLOW "ElasticPolicy", "",
    INT32(0, "minReplicas", "", IF_SET),
    INT32(0, "maxReplicas", "", IF_SET),
    TEXT(0, "rdzvBackend", "", IF_SET),
    INT32(0, "rdzvPort", "", IF_SET),
    TEXT(0, "rdzvHost", "", IF_SET),
    TEXT(0, "rdzvId", "", IF_SET),
    LIST(0, "rdzvConf", RDZV_CONF, ""),
    BOOL(0, "standalone", "", IF_SET),
    INT32(0, "nProcPerNode", "", IF_SET),
    INT32(0, "maxRestarts", "", IF_SET),
    LIST_OF(0, "metrics", TYPE_ANYTHING, "",
        UNSUPPORTED("nothing scales by load: change the replicas, or use 'kubectl scale'")));

LOCAL_TYPE(PYTORCHJOB_SPEC, KUBEFLOW "PyTorchJobSpec", "",
    OBJECT(0, "runPolicy", RUN_POLICY, ""),
    OBJECT(0, "elasticPolicy", ELASTIC_POLICY, ""),
    MAP(0, "pytorchReplicaSpecs", REPLICA_SPEC, "", REQUIRED),
    TEXT(0, "nprocPerNode", "", IF_SET));

TYPE(TYPE_PYTORCHJOB, KUBEFLOW "PyTorchJob", "",
    KIND_ROWS,
    METADATA(0),
    OBJECT(0, "spec", PYTORCHJOB_SPEC, ""),
    OBJECT(0, "status", JOB_STATUS, ""));
