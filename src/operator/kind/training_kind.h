/* What sets one kind of training job apart from another, as a table. The machine that runs them is
 * the same: it reads the replicas, makes their pods and services, restarts, judges and cleans up;
 * a kind gives the names of things, the roles its replicas may have, and the environment in which a
 * replica finds its peers. */
#ifndef TRAINYARD_OPERATOR_TRAINING_KIND_H
#define TRAINYARD_OPERATOR_TRAINING_KIND_H

#include "base/err.h"
#include "base/json/json.h"
#include "kube/kinds/kind.h"

struct training_job;
struct training_plan;

/* In the order in which everything is done and listed. */
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
    TRAINING_RESTART_EXIT_CODE, /* exit code 128 and above: again; below: failed for good */
};

/* The messages of conditions and events. {namespace}, {name}, {type} and {count} are filled in by
 * training_job_say(). */
struct training_words {
    const char *created, *running, *restarting, *suspended, *resumed, *succeeded;
    const char *failed;  /* replicas failed for good */
    const char *failing; /* the same, told by an exit code under policy ExitCode */
    /* Of a job without a chief; NULL: the same words. */
    const char *workers_running, *workers_succeeded;
};

struct training_kind {
    const struct kube_resource *resource;
    /* How the API serves it, with its names: id.kind stands in messages and at the beginning of
     * reasons, `singular` in logs. */
    const struct kube_kind *row;
    const char *framework;       /* "tensorflow": in metrics */
    const char *controller_name; /* value of the operator label, component of events */
    const char *selector;        /* of the pods and services of its jobs */
    const char *specs;           /* the member of spec that holds the replicas */
    const char *container;       /* the one that trains */
    const char *port_name;       /* of the port that peers connect to */
    int port;                    /* where the template names none */
    enum training_restart_policy restart_policy; /* where the replica names none */
    unsigned roles;                              /* 1 << type of each replica type it knows */
    struct training_words words;

    /* The fields that only this kind has; called when all else has been read, or found right. */
    void (*read)(const struct json *spec, struct training_job *job);
    int (*validate)(const struct json *object, struct err *err);
    /* Tell, as events, what of the spec is not done as it is written. NULL: nothing. */
    void (*advise)(const struct training_job *job, struct training_plan *plan);
    /* Whether the replicas can be told who their peers are. NULL: always. */
    int (*check)(struct arena *arena, const struct training_job *job, const char *cluster_domain,
                 struct err *err);
    /* Make what all replicas are told alike, before the first of them is made. NULL: nothing. */
    void (*prepare)(struct arena *arena, struct training_job *job, const char *cluster_domain);
    /* Tell the replica who its peers are: into the containers of its pod's spec. */
    void (*set_environment)(struct arena *arena, const struct training_job *job,
                            enum training_replica_type type, int index, const char *cluster_domain,
                            struct json *pod_spec);
};

extern const struct training_kind TRAINING_TFJOB, TRAINING_PYTORCHJOB;
enum { TRAINING_KIND_COUNT = 2 };
extern const struct training_kind *const TRAINING_KINDS[TRAINING_KIND_COUNT]; /* all of them */

/* The resources of the kinds, and their rows: how the API serves them. */
extern const struct kube_resource TFJOB_RESOURCE, PYTORCHJOB_RESOURCE;
extern const struct kube_kind TFJOB_KIND, PYTORCHJOB_KIND;

static inline bool training_kind_knows(const struct training_kind *kind,
                                       enum training_replica_type type)
{
    return kind->roles & 1U << type;
}

/* "Worker", and "worker" as in names, labels and TF_CONFIG. */
const char *training_replica_type_name(enum training_replica_type type);
const char *training_replica_type_lower(enum training_replica_type type);
/* In any case of letters; false if the kind knows no such type. */
bool training_replica_type_parse(const struct training_kind *kind, const char *text,
                                 enum training_replica_type *ret);

bool training_restart_policy_parse(const char *text, enum training_restart_policy *ret);

#endif
