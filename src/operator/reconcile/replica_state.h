/* Computes the replicas of a job. Each has its pod, its service, and the data that is stored on the
 * job. */
#ifndef TRAINYARD_OPERATOR_RECONCILE_REPLICA_STATE_H
#define TRAINYARD_OPERATOR_RECONCILE_REPLICA_STATE_H

#include "operator/kind/training_job.h"
#include "operator/reconcile/pod_view.h"
#include "operator/reconcile/reconcile.h"

enum training_replica_state {
    TRAINING_REPLICA_MISSING,   /* it has no pod */
    TRAINING_REPLICA_BLOCKED,   /* a pod that the job does not control has its name */
    TRAINING_REPLICA_LEAVING,   /* its pod still exists, but is handled or was deleted before it ran
                                 */
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
    struct training_pod pod;    /* its current or last pod; pod.json NULL: never seen */
    bool has_pod;               /* the pod exists */
    const struct json *service; /* or NULL */
    bool service_blocked;       /* a service that the job does not control has its name */

    /* Stored on the job (restarts.h). */
    bool finished;
    int64_t restarts;
    /* The uid, or its beginning, of the last pod that was handled. NULL: none. */
    const char *restarted_uid;
    int64_t retry_ms; /* no new pod before this time; 0: at any time */
};

struct training_replica_counts {
    int active, succeeded, failed;
};

struct training_replicas {
    struct training_replica *items; /* sorted by type, then by index */
    size_t count;
    int64_t past_restarts; /* restarts of replicas that the spec does not have any more */
    size_t offsets[TRAINING_REPLICA_TYPES];
};

/* Creates the replicas of the spec, without pods. */
void training_replicas_init(struct training_replicas *replicas, struct arena *arena,
                            const struct training_job *job);

/* Returns the replica, or NULL if the spec has no such replica. */
struct training_replica *training_replicas_get(const struct training_replicas *replicas,
                                               const struct training_job *job,
                                               enum training_replica_type type, int64_t index);

/* Returns the replica to which an object's labels and name belong, or NULL. */
struct training_replica *training_replicas_find(const struct training_replicas *replicas,
                                                const struct training_job *job,
                                                const struct json *object);

/* training_replicas_of_key() finds "worker-0", and training_replicas_named() finds
 * "<job>-worker-0". Both return NULL if there is no such replica. */
struct training_replica *training_replicas_of_key(const struct training_replicas *replicas,
                                                  const struct training_job *job, const char *key);
struct training_replica *training_replicas_named(const struct training_replicas *replicas,
                                                 const struct training_job *job, const char *name);

/* Returns whether the object's labels are those of a pod or service of the job, and its name agrees
 * with them. The spec need not have the replica any more. */
bool training_job_describes(const struct training_job *job, const struct json *object,
                            enum training_replica_type *ret_type, int64_t *ret_index);

/* Assigns pods and services to the replicas and sets their states. The data stored on the job must
 * have been read before. */
void training_replicas_observe(struct training_replicas *replicas, const struct training_job *job,
                               const struct training_observed *observed);

/* Returns whether the consequence of its current or vanished pod is stored on the job. A
 * consequence is a restart, or a deletion by the operator. */
bool training_replica_is_handled(const struct training_replica *replica);

struct training_replica_counts training_replicas_count(const struct training_replicas *replicas,
                                                       enum training_replica_type type);

#endif
