/* Reads a training job for the reconcile: a typed view of the relevant fields of the JSON tree,
 * with defaults filled in. The view refers to the tree and never changes it. Writes go to the tree,
 * so that unknown fields survive. Reading cannot fail. training_job_validate() decides whether a
 * job is valid. An invalid job is read as far as possible, because its pods must be cleaned up too.
 */
#ifndef TRAINYARD_OPERATOR_KIND_TRAINING_JOB_H
#define TRAINYARD_OPERATOR_KIND_TRAINING_JOB_H

#include "operator/kind/training_kind.h"

#include "base/json/json.h"

#define TRAINING_MANAGER        "kubeflow.org/training-operator"
#define TRAINING_OTHER_MANAGER  "kueue.x-k8s.io/multikueue"
#define TRAINING_OPERATOR_LABEL "training.kubeflow.org/operator-name"
#define TRAINING_NAME_LABEL     "training.kubeflow.org/job-name"
#define TRAINING_TYPE_LABEL     "training.kubeflow.org/replica-type"
#define TRAINING_INDEX_LABEL    "training.kubeflow.org/replica-index"
#define TRAINING_ROLE_LABEL     "training.kubeflow.org/job-role"

enum { TRAINING_REPLICAS_MAX = 10000, TRAINING_POD_NAME_MAX = 63 };

enum training_clean_policy { TRAINING_CLEAN_NONE, TRAINING_CLEAN_RUNNING, TRAINING_CLEAN_ALL };

/* Defines which workers must succeed, so that a job without a chief succeeds. */
enum training_success {
    TRAINING_SUCCESS_WORKER_0, /* worker 0 ends with exit code 0, or all workers succeed */
    TRAINING_SUCCESS_ALL_WORKERS,
    TRAINING_SUCCESS_ANY_WORKER,
};

struct training_replica_spec {
    bool present;
    int replicas;
    enum training_restart_policy restart_policy;
    int port;          /* the port that peers connect to */
    bool host_network; /* each replica uses a port of its node instead of `port` */
    int *ports;        /* ports by index; 0: not assigned yet; NULL if host_network is false */
    const struct json *template; /* PodTemplateSpec; NULL if missing */
};

/* runPolicy.schedulingPolicy: how the pods are scheduled together. */
struct training_scheduling {
    int64_t min_available; /* -1: not set */
    const char *queue;     /* NULL: not set */
    const char *priority_class;
    const struct json *min_resources; /* a map of resource names and quantities */
    int64_t timeout_seconds;          /* -1: not set */
};

struct training_job {
    const struct training_kind *kind;
    const struct json *json;
    const char *namespace_;
    const char *name;
    const char *uid;
    /* The address of all replicas, which then have different ports. NULL: replicas are found by
     * name. */
    const char *shared_address;
    struct training_replica_spec replicas[TRAINING_REPLICA_TYPES];
    enum training_clean_policy clean_policy;
    int64_t ttl_seconds;      /* seconds after the end until the job is deleted; -1: never */
    int64_t deadline_seconds; /* -1: none */
    int64_t backoff_limit;    /* -1: none */
    struct training_scheduling scheduling;
    bool suspend;
    bool dynamic_worker;       /* enableDynamicWorker */
    bool evaluator_in_cluster; /* TF_CONFIG lists the evaluators */
    bool restart_together;     /* the restart of one replica restarts all */
    int workers_to_start;      /* the job can start when it has this many workers; -1: all */
    enum training_success success;
    const struct json *elastic;   /* elasticPolicy; NULL: none */
    int workers_min, workers_max; /* PyTorchJob: bounds of the number of workers */
    /* The member "cluster" of TF_CONFIG as JSON text, set by training_tf_config_prepare(); NULL:
     * not prepared. */
    const char *tf_cluster;
};

/* Annotations for settings that the schema has no field for. */
#define TRAINING_EVALUATOR_ANNOTATION     "trainyard.dev/tf-config-evaluator"
#define TRAINING_RESTART_SCOPE_ANNOTATION "trainyard.dev/restart-scope"

/* Sets the address of all replicas, because all pods are in the network of one machine. Each
 * replica then needs its own port, as with hostNetwork, unless its template names a host port.
 * `address` must outlive the job. */
void training_job_share_address(struct training_job *job, const char *address);
/* *ret refers to `object`, which must outlive it. */
void training_job_read(const struct training_kind *kind, const struct json *object,
                       struct training_job *ret);
/* Returns whether the job has a start time. An edit of such a job must not discard its progress. */
bool training_job_has_started(const struct json *object);

/* Returns 0, or -ERR_INVALID for the first mistake. The message starts with the field's path. */
int training_job_validate(const struct training_kind *kind, const struct json *object,
                          struct err *err);

/* Returns a member of spec.runPolicy. If it is missing there, returns the member of spec itself,
 * where v1beta1 has it. Returns NULL if both are missing. */
const struct json *training_job_policy(const struct json *spec, const char *name);

/* Checks that spec.runPolicy.managedBy is missing or names a known controller. Returns 0 or
 * -ERR_INVALID. */
int training_managed_by_validate(const struct json *spec, struct err *err);

/* The end of every message that says that the name of a pod or another object is in use. */
#define TRAINING_NAME_TAKEN "; delete it, or give the job another name"

enum { TRAINING_VALUE_MAX = 110 };
/* Describes a value for a message: a string in quotes, else the name of its type. The result may be
 * `buffer`. */
const char *training_value_describe(const struct json *value, char *buffer, size_t size);
/* Returns whether managedBy names a controller other than this operator, known or not. */
bool training_job_is_managed_elsewhere(const struct json *object);

/* Returns false and leaves *ret unchanged for an unknown policy. */
bool training_clean_policy_parse(const char *text, enum training_clean_policy *ret);

bool training_job_has_chief(const struct training_job *job); /* a Chief or a Master */
int training_job_total_replicas(const struct training_job *job);

/* Returns the container that trains (kind->container) from the pod spec, or NULL. */
struct json *training_job_container(const struct training_kind *kind, const struct json *pod_spec);

/* Returns the port that peers of this replica connect to. */
int training_replica_port(const struct training_job *job, enum training_replica_type type,
                          int index);

/* Returns "<job>-<type>-<index>": the name of the pod, of its service and of its host. */
char *training_replica_name(struct arena *arena, const struct training_job *job,
                            enum training_replica_type type, int index);

/* Returns a message of the kind with {namespace}, {name}, {type} and {count} filled in, in `arena`.
 */
char *training_job_message(struct arena *arena, const struct training_job *job, const char *message,
                           enum training_replica_type type, int count);
/* Returns the reason with the kind in front: "TFJobRunning" for "Running". */
char *training_job_reason(struct arena *arena, const struct training_job *job, const char *event);

#endif
