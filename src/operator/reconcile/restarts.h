/* Decides and counts restarts of replicas. Pods are replaced, and the operator may restart at any
 * moment, so the number of restarts and the finished replicas are stored on the job as annotations.
 * The uid of a pod is stored with its restart before the pod is deleted. So each pod counts once,
 * even if it is seen several times. */
#ifndef TRAINYARD_OPERATOR_RECONCILE_RESTARTS_H
#define TRAINYARD_OPERATOR_RECONCILE_RESTARTS_H

#include "operator/reconcile/plan.h"
#include "operator/reconcile/replica_state.h"

/* Both annotations are JSON text. An example of the first is
 * {"worker-0":{"count":2,"uid":"…","after":"<time>"},"past":{"count":1}}. A replica whose pod was
 * only deleted has the start of the uid instead: {"worker-1":"…"}. An example of the second is
 * ["worker-1"]. */
#define TRAINING_RESTARTS_ANNOTATION "trainyard.dev/restarts"
#define TRAINING_FINISHED_ANNOTATION "trainyard.dev/finished"

enum training_verdict {
    TRAINING_VERDICT_NONE,    /* nothing to do */
    TRAINING_VERDICT_RESTART, /* the replica is restarted */
    TRAINING_VERDICT_FAIL,    /* the replica has failed and is not restarted */
};
enum training_verdict training_replica_judge(const struct training_replica *replica,
                                             enum training_restart_policy policy);

/* Reads the annotations of the job. Invalid entries, for example after an edit, are ignored. */
void training_restarts_read(struct training_replicas *replicas, const struct training_job *job,
                            struct arena *arena);
/* Adds changed annotations to the plan. Observed pods of replicas that the spec does not have any
 * more are recorded as deleted by the operator. So they do not count as lost if the spec gets the
 * replica again. */
void training_restarts_write(const struct training_replicas *replicas,
                             const struct training_job *job,
                             const struct training_observed *observed, struct training_plan *plan);

/* Counts the restart of the replica's current pod: adds one and the pod's restarts in place, which
 * are lost with the pod. A program that fails repeatedly is restarted with growing delays, like
 * containers on a node: from the second restart on, the next pod is created at least 10 s, 20 s … 5
 * min after the failed pod was created. */
void training_replica_count_restart(struct training_replica *replica);

/* Records that the operator deletes the replica's current pod, so that its end has no consequence.
 * The restarts in place that are lost with the pod are counted. */
void training_replica_mark_deleted(struct training_replica *replica);

/* Returns the number of restarts that are stored on the job, and the number of restarts in place of
 * pending and running pods. The latter are not counted for replicas with the policy Never. */
void training_replicas_restarts(const struct training_replicas *replicas,
                                const struct training_job *job, int64_t *ret_remembered,
                                int64_t *ret_in_place);

#endif
