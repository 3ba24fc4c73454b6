/* The replicas a job asks for, each with the pod and service it has and what is remembered of it.
 */
#ifndef TRAINYARD_OPERATOR_REPLICA_STATE_H
#define TRAINYARD_OPERATOR_REPLICA_STATE_H

#include "operator/kind/training_job.h"
#include "operator/reconcile/pod_view.h"
#include "operator/reconcile/reconcile.h"

enum training_replica_state {
    TRAINING_REPLICA_MISSING,   /* no pod */
    TRAINING_REPLICA_BLOCKED,   /* its name is taken by a pod that is not the job's */
    TRAINING_REPLICA_LEAVING,   /* its pod is on its way out and has been dealt with */
    TRAINING_REPLICA_PENDING,   /* not started yet */
    TRAINING_REPLICA_ACTIVE,    /* running */
    TRAINING_REPLICA_SUCCEEDED, /* ended well; its pod may be gone */
    TRAINING_REPLICA_FAILED,    /* ended badly; its pod may be gone */
    TRAINING_REPLICA_LOST,      /* deleted while it ran; its pod may be gone */
};

struct training_replica {
    enum training_replica_type type;
    int index;
    enum training_replica_state state;
    struct training_pod pod;    /* its pod, or the last one; json NULL: never seen */
    bool has_pod;               /* the pod exists */
    const struct json *service; /* or NULL */
    bool service_blocked;       /* its name is taken by a service that is not the job's */

    /* Remembered on the job (restarts.h). */
    bool finished;
    int64_t restarts;
    const char *restarted_uid; /* the last pod that has been dealt with, or the beginning of its
                                  uid; NULL: none */
    int64_t retry_ms;          /* no new pod before; 0: whenever */
};

struct training_replica_counts {
    int active, succeeded, failed;
};

struct training_replicas {
    struct training_replica *items; /* by type in order, then by index */
    size_t count;
    int64_t past_restarts; /* remembered, of replicas that are not asked for any more */
    size_t offsets[TRAINING_REPLICA_TYPES];
};

/* Lay out the replicas the spec asks for, without pods yet. */
void training_replicas_init(struct training_replicas *replicas, struct arena *arena,
                            const struct training_job *job);

/* NULL where the spec asks for no such replica. */
struct training_replica *training_replicas_get(const struct training_replicas *replicas,
                                               const struct training_job *job,
                                               enum training_replica_type type, int64_t index);

/* The replica that an object's labels and name say it is of, or NULL. */
struct training_replica *training_replicas_find(const struct training_replicas *replicas,
                                                const struct training_job *job,
                                                const struct json *object);

/* The replica of "worker-0", and of "<job>-worker-0"; NULL where there is none. */
struct training_replica *training_replicas_of_key(const struct training_replicas *replicas,
                                                  const struct training_job *job, const char *key);
struct training_replica *training_replicas_named(const struct training_replicas *replicas,
                                                 const struct training_job *job, const char *name);

/* The object's labels are those of a pod or service of the job, and its name is what they say; the
 * replica need not be asked for (any more). */
bool training_job_describes(const struct training_job *job, const struct json *object,
                            enum training_replica_type *ret_type, int64_t *ret_index);

/* Give each replica its pod and service and judge its state. What is remembered must have been read
 * before. */
void training_replicas_observe(struct training_replicas *replicas, const struct training_job *job,
                               const struct training_observed *observed);

/* What follows of its present (or vanished) pod is on the job already: its restart, or that it was
 * sent away. */
bool training_replica_is_handled(const struct training_replica *replica);

struct training_replica_counts training_replicas_count(const struct training_replicas *replicas,
                                                       enum training_replica_type type);

#endif
