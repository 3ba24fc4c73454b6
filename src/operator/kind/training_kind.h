/* Describes the differences between the kinds of training jobs, as one table per kind. The same
 * code runs all kinds: it reads the replicas, creates their pods and services, restarts them,
 * decides the outcome and cleans up. The table of a kind has its names, replica types and messages,
 * and the functions that tell a replica the addresses of its peers. */
#ifndef TRAINYARD_OPERATOR_KIND_TRAINING_KIND_H
#define TRAINYARD_OPERATOR_KIND_TRAINING_KIND_H

#include "base/err.h"
#include "base/json/json.h"
#include "kube/kinds/kind.h"

struct training_job;

/* In the order in which replicas are handled and listed. */
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
    /* Exit code 128 and above restarts the replica; 1 to 127 fails it. */
    TRAINING_RESTART_EXIT_CODE,
};

/* The messages of conditions and events. training_job_message() fills in {namespace}, {name},
 * {type} and {count}. */
struct training_messages {
    const char *created, *running, *restarting, *suspended, *resumed, *succeeded;
    const char *failed;  /* replicas failed and are not restarted */
    const char *failing; /* like `failed`, if the exit code decided (policy ExitCode) */
    /* For a job without a chief; NULL: the messages above are used. */
    const char *workers_running, *workers_succeeded;
};

/* A warning about a job's spec: the reason and the message of an event. */
struct training_advice {
    const char *reason, *message;
};

enum { TRAINING_ADVICE_MAX = 4 }; /* per job */

struct training_kind {
    const struct kube_resource *resource;
    /* How the API serves the kind, with its names: id.kind is used in messages and as the prefix of
     * reasons, `singular` in logs. */
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

    /* Reads the fields that only this kind has, after all others have been read. */
    void (*read)(const struct json *spec, struct training_job *job);
    /* Validates the fields that only this kind has, after all others were found valid. */
    int (*validate)(const struct json *object, struct err *err);
    /* Finds settings of the spec that have another effect than written. The reconcile reports each
     * once, as a warning. Returns how many of the TRAINING_ADVICE_MAX entries it set. NULL: there
     * are no such settings. */
    size_t (*advise)(struct arena *arena, const struct training_job *job,
                     struct training_advice *ret);
    /* Checks that the environment of the replicas can be built. NULL: it always can. */
    int (*check)(struct arena *arena, const struct training_job *job, const char *cluster_domain,
                 struct err *err);
    /* Computes the data that is the same for all replicas, before the first replica is created.
     * NULL: there is no such data. */
    void (*prepare)(struct arena *arena, struct training_job *job, const char *cluster_domain);
    /* Writes the addresses of the peers into the containers of the replica's pod spec. */
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

static inline bool training_kind_knows(const struct training_kind *kind,
                                       enum training_replica_type type)
{
    return kind->roles & 1U << type;
}

/* Return "Worker", and "worker" as in names, labels and TF_CONFIG. */
const char *training_replica_type_name(enum training_replica_type type);
const char *training_replica_type_lower(enum training_replica_type type);
/* Parses a replica type, ignoring case. Returns false if the kind does not support it. */
bool training_replica_type_parse(const struct training_kind *kind, const char *text,
                                 enum training_replica_type *ret);

bool training_restart_policy_parse(const char *text, enum training_restart_policy *ret);

#endif
