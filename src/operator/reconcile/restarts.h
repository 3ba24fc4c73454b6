/* Restarts: who is tried again, and what of it is remembered. Pods come and go and the operator may
 * be restarted at any moment, so the count of restarts and the replicas that have finished are kept
 * on the job, as annotations. A pod's uid is written down with its restart before the pod is
 * deleted: however often the same pod is seen, it counts once. */
#ifndef TRAINYARD_OPERATOR_RESTARTS_H
#define TRAINYARD_OPERATOR_RESTARTS_H

#include "operator/reconcile/plan.h"
#include "operator/reconcile/replica_state.h"

/* {"worker-0":{"count":2,"uid":"…","after":"<time>"},"worker-1":"<start of a uid>",
 * "past":{"count":1}} and ["worker-1"], as JSON text. */
#define TRAINING_RESTARTS_ANNOTATION "trainyard.dev/restarts"
#define TRAINING_FINISHED_ANNOTATION "trainyard.dev/finished"

enum training_verdict {
    TRAINING_VERDICT_NONE,    /* nothing happened to it */
    TRAINING_VERDICT_RESTART, /* it is tried again */
    TRAINING_VERDICT_FAIL,    /* it failed for good */
};
enum training_verdict training_replica_judge(const struct training_replica *replica,
                                             enum training_restart_policy policy);

/* What cannot be read (somebody edited it) is taken as nothing. */
void training_restarts_read(struct training_replicas *replicas, const struct training_job *job,
                            struct arena *arena);
/* Put into the plan what changed. Observed pods of replicas that are not asked for any more are
 * sent away by us, and are no losses should their replica be asked for again before they are gone.
 */
void training_restarts_write(const struct training_replicas *replicas,
                             const struct training_job *job,
                             const struct training_observed *observed, struct training_plan *plan);

/* Count the restart of the replica's present pod: one, and those in place that vanish with it. A
 * program that fails by itself again and again is tried at growing distances, as a node does with
 * containers: pods are made at least 10 s, 20 s … 5 min apart, from the second restart on. */
void training_replica_count_restart(struct training_replica *replica);

/* The replica's present pod goes for no fault of its own: nothing will follow of its end. Restarts
 * in place that vanish with it are counted. */
void training_replica_mark_deleted(struct training_replica *replica);

/* Restarts remembered, and those made in place by the nodes in pods that live. */
void training_replicas_restarts(const struct training_replicas *replicas,
                                const struct training_job *job, int64_t *ret_remembered,
                                int64_t *ret_in_place);

#endif
