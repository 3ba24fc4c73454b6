/* Describes the differences between the kinds of training jobs, as one table per kind. The
 * reconcile and the controller run all kinds with the same code. They read everything that differs
 * between kinds from these tables: names, replica types, messages, and the functions that tell a
 * replica the addresses of its peers. The functions are pure. */
#ifndef TRAINYARD_OPERATOR_KIND_TRAINING_KIND_H
#define TRAINYARD_OPERATOR_KIND_TRAINING_KIND_H

#include "base/err.h"
#include "base/json/json.h"
#include "kube/kinds/kind.h"

struct training_job;

/* The types of replicas, in the order in which the reconcile handles them and the status lists
 * them. */
enum training_replica_type {
    TRAINING_CHIEF,
    TRAINING_MASTER,
    TRAINING_WORKER,
    TRAINING_PS,
    TRAINING_EVALUATOR,
    TRAINING_REPLICA_TYPES,
};

enum training_restart_policy {
    TRAINING_RESTART_NEVER,
    TRAINING_RESTART_ALWAYS,
    TRAINING_RESTART_ON_FAILURE,
    /* A replica whose container ends with an exit code of 128 or more is restarted, and one with 1
     * to 127 fails. A pod that was deleted or lost is replaced. */
    TRAINING_RESTART_EXIT_CODE,
};

/* The messages of conditions and events. training_job_message() fills in {namespace}, {name},
 * {type} and {count}. */
struct training_messages {
    const char *created, *running, *restarting, *suspended, *resumed, *succeeded;
    const char *failed;  /* replicas failed and are not restarted */
    const char *failing; /* like `failed`, if the exit code decided (policy ExitCode) */
    /* Used instead of `running` and `succeeded` for a job without a Chief or Master; NULL: not
     * used. */
    const char *workers_running, *workers_succeeded;
};

/* A warning about a job's spec: the reason and the message of an event. */
struct training_advice {
    const char *reason, *message;
};

enum { TRAINING_ADVICE_MAX = 4 }; /* per job */

struct training_kind {
    const struct kube_resource *resource;
    /* How the API serves the kind. row->id.kind is the prefix of reasons, and row->singular the
     * subject of log lines. */
    const struct kube_kind *row;
    const char *framework;       /* "tensorflow": used in metrics */
    const char *controller_name; /* the value of the operator label and the component of events */
    const char *selector;        /* the label selector of the pods and services of its jobs */
    const char *specs;           /* the member of spec that contains the replicas */
    const char *container;       /* the name of the container that trains */
    const char *port_name;       /* the name of the port that peers connect to */
    int port;                    /* the port if the template names none */
    enum training_restart_policy restart_policy; /* the policy if the replica names none */
    unsigned roles; /* the supported replica types, as bits 1 << type */
    struct training_messages messages;

    /* Reads the fields that only this kind has, after all others have been read. May change the
     * others, for example the number of workers within the bounds of elasticPolicy. */
    void (*read)(const struct json *spec, struct training_job *job);
    /* Checks the rules that only this kind has, after the common rules. Returns 0 or
     * -ERR_INVALID. */
    int (*validate)(const struct json *object, struct err *err);
    /* Finds settings of the spec that are valid, but deprecated, or that have another effect than
     * the user expects. The reconcile reports each once, as a warning. Writes at most
     * TRAINING_ADVICE_MAX entries to `ret` and returns their number. NULL: there are no such
     * settings. */
    size_t (*advise)(struct arena *arena, const struct training_job *job,
                     struct training_advice *ret);
    /* Checks that the environment of the replicas can be built. Returns 0 or -ERR_INVALID. NULL: it
     * can always be built. */
    int (*check)(struct arena *arena, const struct training_job *job, const char *cluster_domain,
                 struct err *err);
    /* Computes the data that all replicas share, and stores it in the job. Called before the first
     * pod is built. NULL: there is no such data. */
    void (*prepare)(struct arena *arena, struct training_job *job, const char *cluster_domain);
    /* Adds environment variables with the addresses of the peers to the replica's pod spec. */
    void (*set_environment)(struct arena *arena, const struct training_job *job,
                            enum training_replica_type type, int index, const char *cluster_domain,
                            struct json *pod_spec);
};

extern const struct training_kind TRAINING_TFJOB, TRAINING_PYTORCHJOB;
enum { TRAINING_KIND_COUNT = 2 };
extern const struct training_kind *const TRAINING_KINDS[TRAINING_KIND_COUNT]; /* all kinds */

/* The resources of the kinds, and their rows, which define how the API serves the kinds. */
extern const struct kube_resource TFJOB_RESOURCE, PYTORCHJOB_RESOURCE;
extern const struct kube_kind TFJOB_KIND, PYTORCHJOB_KIND;

/* Returns whether jobs of the kind may have replicas of the type. */
static inline bool training_kind_supports(const struct training_kind *kind,
                                          enum training_replica_type type)
{
    return kind->roles & 1U << type;
}

/* Returns the name of the type in specs, such as "Worker". */
const char *training_replica_type_name(enum training_replica_type type);
/* Returns the name of the type in pod names, labels and TF_CONFIG, such as "worker". */
const char *training_replica_type_lower(enum training_replica_type type);
/* Parses a replica type, ignoring case. Returns false and leaves *ret unchanged if the kind does
 * not support it. */
bool training_replica_type_parse(const struct training_kind *kind, const char *text,
                                 enum training_replica_type *ret);

/* Returns false and leaves *ret unchanged if the policy is unknown. `text` may be NULL. */
bool training_restart_policy_parse(const char *text, enum training_restart_policy *ret);

#endif
