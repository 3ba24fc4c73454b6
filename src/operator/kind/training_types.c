/* Defines the fields of training jobs, which are those of Kubeflow; see training_types.h and
 * kube/types/rows.h. */
#include "operator/kind/training_types.h"
#include "kube/types/rows.h"
#include "kube/types/types.h"
#include "operator/kind/training_job.h"

/* clang-format off */

#define KUBEFLOW "org.kubeflow.v1."
#define KUBEFLOW_V1BETA1 "org.kubeflow.v1beta1."
/* A time of this length fits into 64 bits in milliseconds, even after it is added to a date. */
#define SECONDS_MAX (INT64_MAX / 1000 / 2)
#define NO_QUEUES "there are no queues: a group starts when there is room for it"
#define NO_PRIORITIES "there are no priorities: a group starts when there is room for it"

LOCAL_TYPE_CHECKED(SCHEDULING_POLICY, KUBEFLOW "SchedulingPolicy",
        "how the pods of a job are scheduled together",
    INT32(0, "minAvailable", "the minimum number of pods that are scheduled together", IF_SET,
        AT_LEAST(0)),
    TEXT(0, "queue", "the name of the queue that the job waits in", UNSUPPORTED(NO_QUEUES)),
    MAP_OF(0, "minResources", TYPE_QUANTITY, "the minimum resources that the pods need together"),
    TEXT(0, "priorityClass", "the priority class of the job", UNSUPPORTED(NO_PRIORITIES)),
    INT32(0, "scheduleTimeoutSeconds", "seconds that its pods may wait to be scheduled", IF_SET,
        AT_LEAST(0)));

/* v1beta1 has these fields in the spec itself, and a default for cleanPodPolicy. */
#define ENDING_ROWS(...) \
    TEXT(0, "cleanPodPolicy", "which pods are deleted after the job ends: None, Running or All", \
        WORDS("None", "Running", "All") __VA_OPT__(,) __VA_ARGS__), \
    INT32(0, "ttlSecondsAfterFinished", "seconds after which the finished job is deleted", IF_SET, \
        AT_LEAST(0)), \
    INT64(0, "activeDeadlineSeconds", "seconds that the job may run before it fails", IF_SET, \
        WITHIN(0, SECONDS_MAX)), \
    INT32(0, "backoffLimit", "how many restarts are allowed before the job fails", IF_SET, \
        AT_LEAST(0))

LOCAL_TYPE_CHECKED(RUN_POLICY, KUBEFLOW "RunPolicy", "how a job runs, ends and is cleaned up",
    ENDING_ROWS(),
    BOOL(0, "suspend", "true: its pods are deleted, and created again when it is set to false",
        IF_SET, FALLBACK("false")),
    TEXT(0, "managedBy", "the controller that manages the job; default: this operator", IF_SET,
        WORDS("kubeflow.org/training-operator", "kueue.x-k8s.io/multikueue")),
    OBJECT(0, "schedulingPolicy", SCHEDULING_POLICY, "how its pods are scheduled together"));

LOCAL_TYPE_CHECKED(REPLICA_SPEC, KUBEFLOW "ReplicaSpec",
        "the pods of one replica type, such as Worker",
    INT32(0, "replicas", "the number of pods", IF_SET, WITHIN(0, TRAINING_REPLICAS_MAX)),
    TEXT(0, "restartPolicy",
        "when pods that ended are restarted; ExitCode: depends on the exit code",
        WORDS("", "Always", "OnFailure", "Never", "ExitCode")),
    STRUCT(0, "template", TYPE_POD_TEMPLATE_SPEC,
        "the template of the pods; the training container has a fixed name"));

LOCAL_TYPE_CHECKED(REPLICA_STATUS, KUBEFLOW "ReplicaStatus",
        "counts of the pods of one replica type",
    INT32(0, "active", "the number of pods that run"),
    INT32(0, "succeeded", "the number of pods that have succeeded"),
    INT32(0, "failed", "the number of pods that have failed"),
    TEXT(0, "selector", "the selector of the pods, as text"),
    OBJECT(0, "labelSelector", TYPE_LABEL_SELECTOR, "deprecated: use selector"));

LOCAL_TYPE_CHECKED(JOB_CONDITION, KUBEFLOW "JobCondition", "a condition of a job",
    TEXT(0, "type", "the type of the condition, such as Running, Succeeded or Failed", REQUIRED),
    TEXT(0, "status", "the status of the condition: True, False or Unknown", REQUIRED),
    TEXT(0, "reason", "the reason as one word, for programs"),
    TEXT(0, "message", "the reason as a sentence, for people"),
    TIME(0, "lastUpdateTime", "when the condition was last updated"),
    TIME(0, "lastTransitionTime", "when the status last changed"));

LOCAL_TYPE_CHECKED(JOB_STATUS, KUBEFLOW "JobStatus", "the current state of a job",
    LIST(0, "conditions", JOB_CONDITION,
        "the conditions of the job; the last one is its state"),
    MAP(0, "replicaStatuses", REPLICA_STATUS, "counts of the pods of each replica type"),
    TIME(0, "startTime", "when the job was started"),
    TIME(0, "completionTime", "when the job succeeded or failed"),
    TIME(0, "lastReconcileTime", "when the controller last reconciled the job"));

#define TFJOB_ROWS \
    OBJECT(0, "runPolicy", RUN_POLICY, "how the job runs, ends and is cleaned up"), \
    TEXT(0, "successPolicy", \
        "without a chief, the job succeeds with worker 0; AllWorkers: with all workers", \
        WORDS("", "AllWorkers")), \
    MAP(0, "tfReplicaSpecs", REPLICA_SPEC, \
        "the pods of each replica type: Chief, Worker, PS, Evaluator", REQUIRED, NOT_EMPTY), \
    BOOL(0, "enableDynamicWorker", "true: workers can join and leave while the job runs")

LOCAL_TYPE_CHECKED(TFJOB_SPEC, KUBEFLOW "TFJobSpec", "the desired state of a TFJob",
    TFJOB_ROWS);

TYPE_CHECKED(TFJOB_TYPE, KUBEFLOW "TFJob", "a distributed TensorFlow training job",
    KIND_ROWS,
    METADATA(0),
    OBJECT(0, "spec", TFJOB_SPEC, "its desired state"),
    OBJECT(0, "status", JOB_STATUS, "its current state"));

LOCAL_TYPE_CHECKED(TFJOB_SPEC_V1BETA1, KUBEFLOW_V1BETA1 "TFJobSpec", "the desired state of a TFJob",
    TFJOB_ROWS,
    ENDING_ROWS(FALLBACK("\"Running\"")));

TYPE_CHECKED(TFJOB_TYPE_V1BETA1, KUBEFLOW_V1BETA1 "TFJob", "a distributed TensorFlow training job",
    KIND_ROWS,
    METADATA(0),
    OBJECT(0, "spec", TFJOB_SPEC_V1BETA1, "its desired state"),
    OBJECT(0, "status", JOB_STATUS, "its current state"));

LOCAL_TYPE_CHECKED(RDZV_CONF, KUBEFLOW "RDZVConf", "a setting of the rendezvous",
    TEXT(0, "key", "the name of the setting"),
    TEXT(0, "value", "the value of the setting"));

LOCAL_TYPE_CHECKED(ELASTIC_POLICY, KUBEFLOW "ElasticPolicy",
        "how the number of workers may change while a job runs",
    INT32(0, "minReplicas",
        "the minimum number of workers", IF_SET, WITHIN(1, TRAINING_REPLICAS_MAX)),
    INT32(0, "maxReplicas",
        "the maximum number of workers", IF_SET, WITHIN(1, TRAINING_REPLICAS_MAX)),
    TEXT(0, "rdzvBackend", "the rendezvous backend, such as c10d", IF_SET),
    INT32(0, "rdzvPort", "the port of the rendezvous", IF_SET, WITHIN(1, 65535)),
    TEXT(0, "rdzvHost", "the host of the rendezvous", IF_SET),
    TEXT(0, "rdzvId", "the unique id of the rendezvous", IF_SET),
    LIST(0, "rdzvConf", RDZV_CONF, "additional settings of the rendezvous"),
    BOOL(0, "standalone", "true: the rendezvous is limited to one pod", IF_SET),
    INT32(0, "nProcPerNode", "the number of processes per pod", IF_SET, AT_LEAST(1)),
    INT32(0, "maxRestarts", "how often the worker group may be restarted", IF_SET, AT_LEAST(0)),
    LIST_OF(0, "metrics", TYPE_ANYTHING, "the metrics by which workers are added or removed",
        UNSUPPORTED("nothing scales by load: change the replicas, or use 'kubectl scale'")));

LOCAL_TYPE_CHECKED(PYTORCHJOB_SPEC, KUBEFLOW "PyTorchJobSpec", "the desired state of a PyTorchJob",
    OBJECT(0, "runPolicy", RUN_POLICY, "how the job runs, ends and is cleaned up"),
    OBJECT(0, "elasticPolicy", ELASTIC_POLICY,
        "how the number of workers may change while the job runs"),
    MAP(0, "pytorchReplicaSpecs", REPLICA_SPEC, "the pods of each replica type: Master, Worker",
        REQUIRED, NOT_EMPTY),
    TEXT(0, "nprocPerNode", "the number of processes per pod, or auto, cpu or gpu", IF_SET));

TYPE_CHECKED(PYTORCHJOB_TYPE, KUBEFLOW "PyTorchJob", "a distributed PyTorch training job",
    KIND_ROWS,
    METADATA(0),
    OBJECT(0, "spec", PYTORCHJOB_SPEC, "its desired state"),
    OBJECT(0, "status", JOB_STATUS, "its current state"));
