/* A training job as we decide on it: a typed view of the fields that matter, read from the JSON
 * tree with the defaults filled in. The view borrows from the tree and never changes it; what is
 * written back is the tree itself, so that fields unknown to us survive. Reading cannot fail:
 * whether a job makes sense is the question training_job_validate() answers, and a job that does
 * not is still read as far as it goes, because it must be cleaned up all the same. */
#ifndef TRAINYARD_OPERATOR_TRAINING_JOB_H
#define TRAINYARD_OPERATOR_TRAINING_JOB_H

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

/* Which workers must have succeeded for a job without a chief to be done. */
enum training_success {
    TRAINING_SUCCESS_WORKER_0, /* or all */
    TRAINING_SUCCESS_ALL_WORKERS,
    TRAINING_SUCCESS_ANY_WORKER,
};

struct training_replica_spec {
    bool present;
    int replicas;
    enum training_restart_policy restart_policy;
    int port;                    /* the one that peers connect to */
    bool host_network;           /* each replica gets a port of its node instead */
    int *ports;                  /* by index, 0: none yet; set by training_host_ports_read() */
    const struct json *template; /* PodTemplateSpec; NULL if missing */
};

/* runPolicy.schedulingPolicy: how the pods start together. */
struct training_scheduling {
    int64_t min_available; /* -1: not said */
    const char *queue;     /* NULL: not said, so with the others */
    const char *priority_class;
    const struct json *min_resources; /* names and quantities */
    int64_t timeout_seconds;          /* -1: not said */
};

struct training_job {
    const struct training_kind *kind;
    const struct json *json;
    const char *namespace_;
    const char *name;
    const char *uid;
    const char *shared_address; /* where every replica is, with a port of its own; NULL: by name */
    struct training_replica_spec replicas[TRAINING_REPLICA_TYPES];
    enum training_clean_policy clean_policy;
    int64_t ttl_seconds;      /* after finish; -1: never */
    int64_t deadline_seconds; /* -1: none */
    int64_t backoff_limit;    /* -1: none */
    struct training_scheduling scheduling;
    bool suspend;
    bool dynamic_worker;       /* enableDynamicWorker */
    bool evaluator_in_cluster; /* TF_CONFIG lists the evaluators */
    bool restart_together;     /* one replica's restart restarts all */
    int min_workers;           /* the job starts with so many of its workers; -1: with all */
    enum training_success success;
    const struct json *elastic;   /* elasticPolicy; NULL: none */
    int workers_min, workers_max; /* bounds of elastic workers */
    const char *tf_cluster;       /* set by training_tf_config_prepare(); else NULL */
};

/* Annotations: what the schema has no field for. */
#define TRAINING_EVALUATOR_ANNOTATION     "trainyard.dev/tf-config-evaluator"
#define TRAINING_RESTART_SCOPE_ANNOTATION "trainyard.dev/restart-scope"

/* All replicas are in the network of one machine, at this address. */
void training_job_share_address(struct training_job *job, const char *address);
void training_job_read(const struct training_kind *kind, const struct json *object,
                       struct training_job *ret);
/* It runs or has run: what is edited now must not take away what it has reached. */
bool training_job_has_started(const struct json *object);

/* The first thing wrong with a job, as ERR_INVALID with the field's path first. */
int training_job_validate(const struct training_kind *kind, const struct json *object,
                          struct err *err);

/* A member of spec.runPolicy, or where it has none the one of spec itself, where it stood in
 * v1beta1: converters that know no better leave it there. NULL: neither has it. */
const struct json *training_job_policy(const struct json *spec, const char *name);

/* spec.runPolicy.managedBy names somebody who exists. */
int training_managed_by_validate(const struct json *spec, struct err *err);

/* The way out, behind every message that a name is taken. */
#define TRAINING_NAME_TAKEN "; delete it, or give the job another name"

enum { TRAINING_VALUE_MAX = 110 };
/* A value as a message says it: text in quotes, else what it is. May be the buffer. */
const char *training_value_describe(const struct json *value, char *buffer, size_t size);
/* Some other controller was asked to run it. */
bool training_job_is_managed_elsewhere(const struct json *object);

/* False leaves *ret alone. */
bool training_clean_policy_parse(const char *text, enum training_clean_policy *ret);

bool training_job_has_chief(const struct training_job *job); /* a Chief or a Master */
int training_job_total_replicas(const struct training_job *job);

/* The container that trains, of a pod spec; or NULL. */
struct json *training_job_container(const struct training_kind *kind, const struct json *pod_spec);

/* The port that peers of this replica connect to. */
int training_replica_port(const struct training_job *job, enum training_replica_type type,
                          int index);

/* "<job>-<type>-<index>": the pod, its service and its host. */
char *training_replica_name(struct arena *arena, const struct training_job *job,
                            enum training_replica_type type, int index);

/* A message of the kind's words, filled in; `type` and `count` where the words ask for them. */
char *training_job_message(struct arena *arena, const struct training_job *job, const char *words,
                           enum training_replica_type type, int count);
/* "TFJobRunning" from "Running". */
char *training_job_reason(struct arena *arena, const struct training_job *job, const char *event);

#endif
