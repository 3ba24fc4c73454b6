/* Types of training jobs, as Kubeflow defines them; see training_types.h and kube/types/rows.h. */
#include "operator/kind/training_types.h"
#include "kube/types/rows.h"
#include "kube/types/types.h"
#include "operator/kind/training_job.h"

/* clang-format off */

#define KUBEFLOW "org.kubeflow.v1."
#define KUBEFLOW_V1BETA1 "org.kubeflow.v1beta1."
/* As milliseconds it fits into 64 bits, with room for a sum. */
#define SECONDS_MAX (INT64_MAX / 1000 / 2)
#define NO_QUEUES "there are no queues: a group starts when there is room for it"
#define NO_PRIORITIES "there are no priorities: a group starts when there is room for it"

LOCAL_TYPE_CHECKED(SCHEDULING_POLICY, KUBEFLOW "SchedulingPolicy",
        "how the pods of a job are scheduled together",
    INT32(0, "minAvailable", "how many pods must find room at the same time", IF_SET, AT_LEAST(0)),
    TEXT(0, "queue", "the queue that the job waits in", UNSUPPORTED(NO_QUEUES)),
    MAP_OF(0, "minResources", TYPE_QUANTITY, "what the pods need together"),
    TEXT(0, "priorityClass", "the priority class of the job", UNSUPPORTED(NO_PRIORITIES)),
    INT32(0, "scheduleTimeoutSeconds", "how long its pods may wait for room", IF_SET,
        AT_LEAST(0)));

/* v1beta1 has these in the spec itself, and a default for the first. */
#define ENDING_ROWS(...) \
    TEXT(0, "cleanPodPolicy", "which pods are deleted when the job has ended", \
        WORDS("None", "Running", "All") __VA_OPT__(,) __VA_ARGS__), \
    INT32(0, "ttlSecondsAfterFinished", "how long after its end the job is deleted", IF_SET, \
        AT_LEAST(0)), \
    INT64(0, "activeDeadlineSeconds", "how long the job may run before it fails", IF_SET, \
        WITHIN(0, SECONDS_MAX)), \
    INT32(0, "backoffLimit", "how many restarts there may be before the job fails", IF_SET, \
        AT_LEAST(0))

LOCAL_TYPE_CHECKED(RUN_POLICY, KUBEFLOW "RunPolicy", "how a job runs and ends",
    ENDING_ROWS(),
    BOOL(0, "suspend", "true: its pods are ended, and started again when it is false", IF_SET,
        FALLBACK("false")),
    TEXT(0, "managedBy", "the controller that runs the job, if it is another one", IF_SET,
        WORDS("kubeflow.org/training-operator", "kueue.x-k8s.io/multikueue")),
    OBJECT(0, "schedulingPolicy", SCHEDULING_POLICY, "how its pods are scheduled together"));

LOCAL_TYPE_CHECKED(REPLICA_SPEC, KUBEFLOW "ReplicaSpec", "the pods of one role",
    INT32(0, "replicas", "the number of pods", IF_SET, WITHIN(0, TRAINING_REPLICAS_MAX)),
    TEXT(0, "restartPolicy", "when a pod that ended is started again; ExitCode: by its exit code",
        WORDS("", "Always", "OnFailure", "Never", "ExitCode")),
    STRUCT(0, "template", TYPE_POD_TEMPLATE_SPEC,
        "the template of the pods; the container that trains has a fixed name"));

LOCAL_TYPE_CHECKED(REPLICA_STATUS, KUBEFLOW "ReplicaStatus", "counts of the pods of one role",
    INT32(0, "active", "how many run or wait to run"),
    INT32(0, "succeeded", "how many have succeeded"),
    INT32(0, "failed", "how many have failed"),
    TEXT(0, "selector", "the selector of the pods, as text"),
    OBJECT(0, "labelSelector", TYPE_LABEL_SELECTOR,
        "the selector of the pods, as older versions wrote it"));

LOCAL_TYPE_CHECKED(JOB_CONDITION, KUBEFLOW "JobCondition", "a condition of a job",
    TEXT(0, "type", "the type of the condition, such as Running, Succeeded or Failed", REQUIRED),
    TEXT(0, "status", "the status of the condition: True, False or Unknown", REQUIRED),
    TEXT(0, "reason", "the reason as one word, for programs"),
    TEXT(0, "message", "the reason as a sentence, for people"),
    TIME(0, "lastUpdateTime", "when the condition was last updated"),
    TIME(0, "lastTransitionTime", "when the status last changed"));

LOCAL_TYPE_CHECKED(JOB_STATUS, KUBEFLOW "JobStatus", "the present state of a job",
    LIST(0, "conditions", JOB_CONDITION, "its conditions, in the order in which they appeared"),
    MAP(0, "replicaStatuses", REPLICA_STATUS, "counts of the pods of each role"),
    TIME(0, "startTime", "when the job was started"),
    TIME(0, "completionTime", "when it succeeded"),
    TIME(0, "lastReconcileTime", "when its controller last reconciled it"));

#define TFJOB_ROWS \
    OBJECT(0, "runPolicy", RUN_POLICY, "how it runs and ends"), \
    TEXT(0, "successPolicy", \
        "AllWorkers: every worker must succeed; otherwise the chief, or worker 0", \
        WORDS("", "AllWorkers")), \
    MAP(0, "tfReplicaSpecs", REPLICA_SPEC, "the pods of each role: Chief, Worker, PS, Evaluator", \
        REQUIRED, NOT_EMPTY), \
    BOOL(0, "enableDynamicWorker", "true: workers may come and go while the job runs")

LOCAL_TYPE_CHECKED(TFJOB_SPEC, KUBEFLOW "TFJobSpec", "the desired state of a TFJob",
    TFJOB_ROWS);

TYPE_CHECKED(TFJOB_TYPE, KUBEFLOW "TFJob", "a distributed training of TensorFlow",
    KIND_ROWS,
    METADATA(0),
    OBJECT(0, "spec", TFJOB_SPEC, "its desired state"),
    OBJECT(0, "status", JOB_STATUS, "its present state"));

LOCAL_TYPE_CHECKED(TFJOB_SPEC_V1BETA1, KUBEFLOW_V1BETA1 "TFJobSpec", "the desired state of a TFJob",
    TFJOB_ROWS,
    ENDING_ROWS(FALLBACK("\"Running\"")));

TYPE_CHECKED(TFJOB_TYPE_V1BETA1, KUBEFLOW_V1BETA1 "TFJob", "a distributed training of TensorFlow",
    KIND_ROWS,
    METADATA(0),
    OBJECT(0, "spec", TFJOB_SPEC_V1BETA1, "its desired state"),
    OBJECT(0, "status", JOB_STATUS, "its present state"));

LOCAL_TYPE_CHECKED(RDZV_CONF, KUBEFLOW "RDZVConf", "a setting of the rendezvous",
    TEXT(0, "key", "its name"),
    TEXT(0, "value", "its value"));

LOCAL_TYPE_CHECKED(ELASTIC_POLICY, KUBEFLOW "ElasticPolicy",
        "how many workers a job may have while it runs",
    INT32(0, "minReplicas",
        "the minimum number of workers", IF_SET, WITHIN(1, TRAINING_REPLICAS_MAX)),
    INT32(0, "maxReplicas",
        "the maximum number of workers", IF_SET, WITHIN(1, TRAINING_REPLICAS_MAX)),
    TEXT(0, "rdzvBackend", "how workers find each other, such as c10d", IF_SET),
    INT32(0, "rdzvPort", "the port they find each other at", IF_SET, WITHIN(1, 65535)),
    TEXT(0, "rdzvHost", "the host they find each other at", IF_SET),
    TEXT(0, "rdzvId", "the unique id of the rendezvous", IF_SET),
    LIST(0, "rdzvConf", RDZV_CONF, "further settings of the rendezvous"),
    BOOL(0, "standalone", "true: the rendezvous is limited to one pod", IF_SET),
    INT32(0, "nProcPerNode", "how many processes are started in each pod", IF_SET, AT_LEAST(1)),
    INT32(0, "maxRestarts", "how often the group of workers may be restarted", IF_SET,
        AT_LEAST(0)),
    LIST_OF(0, "metrics", TYPE_ANYTHING, "the metrics by which workers are added or removed",
        UNSUPPORTED("nothing scales by load: change the replicas, or use 'kubectl scale'")));

LOCAL_TYPE_CHECKED(PYTORCHJOB_SPEC, KUBEFLOW "PyTorchJobSpec", "the desired state of a PyTorchJob",
    OBJECT(0, "runPolicy", RUN_POLICY, "how it runs and ends"),
    OBJECT(0, "elasticPolicy", ELASTIC_POLICY, "how many workers it may have while it runs"),
    MAP(0, "pytorchReplicaSpecs", REPLICA_SPEC, "the pods of each role: Master, Worker", REQUIRED,
        NOT_EMPTY),
    TEXT(0, "nprocPerNode", "how many processes are started in each pod, or auto, cpu, gpu",
        IF_SET));

TYPE_CHECKED(PYTORCHJOB_TYPE, KUBEFLOW "PyTorchJob", "a distributed training of PyTorch",
    KIND_ROWS,
    METADATA(0),
    OBJECT(0, "spec", PYTORCHJOB_SPEC, "its desired state"),
    OBJECT(0, "status", JOB_STATUS, "its present state"));
