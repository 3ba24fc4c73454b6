/* A TFJob as we decide on it: a typed view of the fields that matter, read from the JSON tree with
 * the defaults filled in. The view borrows from the tree and never changes it; what is written back
 * is the tree itself, so that fields unknown to us survive. Reading cannot fail: whether a job
 * makes sense is the question tfjob_spec_validate() answers, and a job that does not is still read
 * as far as it goes, because it must be cleaned up all the same. */
#ifndef TRAINYARD_OPERATOR_TFJOB_H
#define TRAINYARD_OPERATOR_TFJOB_H

#include "base/json.h"

#define TFJOB_API_VERSION     "kubeflow.org/v1"
#define TFJOB_KIND            "TFJob"
#define TFJOB_CONTROLLER_NAME "tfjob-controller"
#define TFJOB_MANAGER         "kubeflow.org/training-operator"
#define TFJOB_CONTAINER       "tensorflow"
#define TFJOB_PORT_NAME       "tfjob-port"
#define TFJOB_OPERATOR_LABEL  "training.kubeflow.org/operator-name"
#define TFJOB_NAME_LABEL      "training.kubeflow.org/job-name"
#define TFJOB_TYPE_LABEL      "training.kubeflow.org/replica-type"
#define TFJOB_INDEX_LABEL     "training.kubeflow.org/replica-index"
#define TFJOB_ROLE_LABEL      "training.kubeflow.org/job-role"
#define TFJOB_SELECTOR        TFJOB_OPERATOR_LABEL "=" TFJOB_CONTROLLER_NAME

enum { TFJOB_PORT_DEFAULT = 2222, TFJOB_REPLICAS_MAX = 10000, TFJOB_POD_NAME_MAX = 63 };

/* In the order in which everything is done and listed. */
enum tfjob_replica_type {
    TFJOB_CHIEF,
    TFJOB_MASTER,
    TFJOB_WORKER,
    TFJOB_PS,
    TFJOB_EVALUATOR,
    TFJOB_REPLICA_TYPES,
};

enum tfjob_restart_policy {
    TFJOB_RESTART_NEVER,
    TFJOB_RESTART_ALWAYS,
    TFJOB_RESTART_ON_FAILURE,
    TFJOB_RESTART_EXIT_CODE, /* exit code 128 and above: again; below: failed for good */
};

enum tfjob_clean_policy { TFJOB_CLEAN_NONE, TFJOB_CLEAN_RUNNING, TFJOB_CLEAN_ALL };

struct tfjob_replica_spec {
    bool present;
    int replicas;
    enum tfjob_restart_policy restart_policy;
    int port;                    /* the container port named tfjob-port */
    const struct json *template; /* PodTemplateSpec; NULL if missing */
};

struct tfjob {
    const struct json *json;
    const char *namespace_;
    const char *name;
    const char *uid;
    struct tfjob_replica_spec replicas[TFJOB_REPLICA_TYPES];
    enum tfjob_clean_policy clean_policy;
    int64_t ttl_seconds;      /* after finish; -1: never */
    int64_t deadline_seconds; /* -1: none */
    int64_t backoff_limit;    /* -1: none */
    bool suspend;
    bool all_workers;          /* successPolicy AllWorkers */
    bool dynamic_worker;       /* enableDynamicWorker */
    bool evaluator_in_cluster; /* TF_CONFIG lists the evaluators */
    bool restart_together;     /* one replica's restart restarts all */
};

/* Annotations: what the schema has no field for. */
#define TFJOB_EVALUATOR_ANNOTATION     "trainyard.dev/tf-config-evaluator"
#define TFJOB_RESTART_SCOPE_ANNOTATION "trainyard.dev/restart-scope"

void tfjob_read(const struct json *object, struct tfjob *ret);

/* The first thing wrong with a job, as ERR_INVALID with the field's path first. */
int tfjob_spec_validate(const struct json *object, struct err *err);

/* Some other controller was asked to run it (spec.runPolicy.managedBy). */
bool tfjob_is_managed_elsewhere(const struct json *object);

/* "Worker", and "worker" as in names, labels and TF_CONFIG. */
const char *tfjob_replica_type_name(enum tfjob_replica_type type);
const char *tfjob_replica_type_lower(enum tfjob_replica_type type);
/* In any case of letters; false if there is no such type. */
bool tfjob_replica_type_parse(const char *text, enum tfjob_replica_type *ret);

/* The same for the values of the policies; false leaves *ret alone. */
bool tfjob_restart_policy_parse(const char *text, enum tfjob_restart_policy *ret);
bool tfjob_clean_policy_parse(const char *text, enum tfjob_clean_policy *ret);

bool tfjob_has_chief(const struct tfjob *job); /* a Chief or a Master */
int tfjob_total_replicas(const struct tfjob *job);

/* The container named tensorflow of a pod spec, or NULL. */
struct json *tfjob_container(const struct json *pod_spec);

#endif
