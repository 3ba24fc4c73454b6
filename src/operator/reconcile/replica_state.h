/* Computes the state of each replica of a job from its pod, its service, and the data about the
 * replica that is stored on the job. The reconcile uses it once per pass. Pure. */
#ifndef TRAINYARD_OPERATOR_RECONCILE_REPLICA_STATE_H
#define TRAINYARD_OPERATOR_RECONCILE_REPLICA_STATE_H

#include "operator/kind/training_job.h"
#include "operator/reconcile/pod_view.h"
#include "operator/reconcile/reconcile.h"

enum training_replica_state {
    TRAINING_REPLICA_MISSING, /* the replica has no pod */
    /* A pod that the job does not control, or that lost the job's labels, uses the replica's name.
     */
    TRAINING_REPLICA_BLOCKED,
    /* Its pod still exists, but is handled (training_replica_is_handled()), or was deleted before
     * it ran. */
    TRAINING_REPLICA_LEAVING,
    TRAINING_REPLICA_PENDING,   /* its pod has not started yet */
    TRAINING_REPLICA_ACTIVE,    /* its pod runs */
    TRAINING_REPLICA_SUCCEEDED, /* succeeded; its pod may be gone */
    TRAINING_REPLICA_FAILED,    /* failed; its pod may be gone */
    TRAINING_REPLICA_LOST,      /* its pod was deleted while it ran, and may be gone */
};

struct training_replica {
    enum training_replica_type type;
    int index;
    enum training_replica_state state;
    struct training_pod pod;    /* its current or vanished pod; pod.json NULL: there is none */
    bool has_pod;               /* the pod exists */
    const struct json *service; /* or NULL */
    bool service_blocked;       /* a service that the job does not control has its name */

    /* Stored on the job (restarts.h). */
    bool finished;    /* a pod of the replica has succeeded */
    int64_t restarts; /* restarts so far, including restarts in place of deleted pods */
    /* The uid, or its beginning, of the last pod whose restart or deletion by the operator was
     * recorded. NULL: none. */
    const char *handled_uid;
    int64_t retry_ms; /* no new pod before this time; 0: at any time */
};

struct training_replica_counts {
    int active, succeeded, failed;
};

struct training_replicas {
    struct training_replica *items; /* sorted by type, then by index */
    size_t count;
    int64_t past_restarts; /* restarts of replicas that the spec does not have any more */
    /* By type: the index in `items` of the first replica of the type. */
    size_t offsets[TRAINING_REPLICA_TYPES];
};

/* Creates the replicas of the spec, without pods. */
void training_replicas_init(struct training_replicas *replicas, struct arena *arena,
                            const struct training_job *job);

/* Returns the replica, or NULL if the spec has no such replica. */
struct training_replica *training_replicas_get(const struct training_replicas *replicas,
                                               const struct training_job *job,
                                               enum training_replica_type type, int64_t index);

/* Returns the replica to which a pod or service belongs by its labels and its name, or NULL. */
struct training_replica *training_replicas_find(const struct training_replicas *replicas,
                                                const struct training_job *job,
                                                const struct json *object);

/* Returns the replica with a key such as "worker-0", or NULL. */
struct training_replica *training_replicas_of_key(const struct training_replicas *replicas,
                                                  const struct training_job *job, const char *key);
/* Returns the replica whose pod has a name such as "<job>-worker-0", or NULL. */
struct training_replica *training_replicas_named(const struct training_replicas *replicas,
                                                 const struct training_job *job, const char *name);

/* Returns whether the object's labels are those of a pod or service of the job, and its name agrees
 * with them. The spec need not have the replica any more. *ret_type and *ret_index are valid only
 * if the result is true. */
bool training_job_matches(const struct training_job *job, const struct json *object,
                          enum training_replica_type *ret_type, int64_t *ret_index);

/* Assigns pods and services to the replicas and sets the state of each replica.
 * training_restarts_read() must be called before. */
void training_replicas_observe(struct training_replicas *replicas, const struct training_job *job,
                               const struct training_observed *observed);

/* Returns whether the replica's current or vanished pod is handled: the job's annotation records
 * that the operator counted the restart of this pod, or deleted it. */
bool training_replica_is_handled(const struct training_replica *replica);

/* Counts the replicas of a type for the status. Lost replicas count as failed, and so do leaving
 * replicas whose pod has failed. */
struct training_replica_counts training_replicas_count(const struct training_replicas *replicas,
                                                       enum training_replica_type type);

#endif
