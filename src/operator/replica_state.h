/* The replicas a job asks for, each with the pod and service it has and what is remembered of it.
 */
#ifndef TRAINYARD_OPERATOR_REPLICA_STATE_H
#define TRAINYARD_OPERATOR_REPLICA_STATE_H

#include "operator/pod_view.h"
#include "operator/reconcile.h"
#include "operator/tfjob.h"

enum tfjob_replica_state {
    TFJOB_REPLICA_MISSING,   /* no pod */
    TFJOB_REPLICA_BLOCKED,   /* its name is taken by a pod that is not the job's */
    TFJOB_REPLICA_LEAVING,   /* its pod is on its way out and has been dealt with */
    TFJOB_REPLICA_PENDING,   /* not started yet */
    TFJOB_REPLICA_ACTIVE,    /* running */
    TFJOB_REPLICA_SUCCEEDED, /* ended well; its pod may be gone */
    TFJOB_REPLICA_FAILED,    /* ended badly; its pod may be gone */
    TFJOB_REPLICA_LOST,      /* deleted while it ran; its pod may be gone */
};

struct tfjob_replica {
    enum tfjob_replica_type type;
    int index;
    enum tfjob_replica_state state;
    struct tfjob_pod pod;       /* its pod, or the last one; json NULL: never seen */
    bool has_pod;               /* the pod exists */
    const struct json *service; /* or NULL */
    bool service_blocked;       /* its name is taken by a service that is not the job's */

    /* Remembered on the job (restarts.h). */
    bool finished;
    int64_t restarts;
    const char *restarted_uid; /* the last pod whose restart has been counted; NULL: none */
    int64_t retry_ms;          /* no new pod before; 0: whenever */
};

struct tfjob_tally {
    int active, succeeded, failed;
};

struct tfjob_replicas {
    struct tfjob_replica *items; /* by type in order, then by index */
    size_t count;
    size_t offsets[TFJOB_REPLICA_TYPES];
};

/* Lay out the replicas the spec asks for, without pods yet. */
void tfjob_replicas_init(struct tfjob_replicas *replicas, struct arena *arena,
                         const struct tfjob *job);

/* NULL where the spec asks for no such replica. */
struct tfjob_replica *tfjob_replicas_get(const struct tfjob_replicas *replicas,
                                         const struct tfjob *job, enum tfjob_replica_type type,
                                         int64_t index);

/* The replica that an object's labels and name say it is of, or NULL. */
struct tfjob_replica *tfjob_replicas_find(const struct tfjob_replicas *replicas,
                                          const struct tfjob *job, const struct json *object);

/* Give each replica its pod and service and judge its state. What is remembered must have been read
 * before. */
void tfjob_replicas_observe(struct tfjob_replicas *replicas, const struct tfjob *job,
                            const struct tfjob_observed *observed);

struct tfjob_tally tfjob_replicas_count(const struct tfjob_replicas *replicas,
                                        enum tfjob_replica_type type);

#endif
