/* Decides and counts restarts of replicas. Pods are replaced, and the operator may restart at any
 * moment, so the number of restarts and the finished replicas are stored on the job as annotations.
 * Before a pod is deleted, its uid is stored with its restart. So each pod counts once, even if it
 * is seen several times. Pure; part of the reconcile. */
#ifndef TRAINYARD_OPERATOR_RECONCILE_RESTARTS_H
#define TRAINYARD_OPERATOR_RECONCILE_RESTARTS_H

#include "operator/reconcile/plan.h"
#include "operator/reconcile/replica_state.h"

/* Both annotations are JSON text. An example of the first is
 * {"worker-0":{"count":2,"uid":"…","after":"<time>"},"past":{"count":1}}. "after" is the time of
 * the next pod, and "past" counts the restarts of replicas that the spec does not have any more. A
 * replica whose pod was deleted, but never restarted, has the start of the uid instead:
 * {"worker-1":"…"}. The second lists finished replicas: ["worker-1"]. */
#define TRAINING_RESTARTS_ANNOTATION "trainyard.dev/restarts"
#define TRAINING_FINISHED_ANNOTATION "trainyard.dev/finished"

enum training_verdict {
    TRAINING_VERDICT_NONE,    /* nothing to do */
    TRAINING_VERDICT_RESTART, /* the replica is restarted */
    TRAINING_VERDICT_FAIL,    /* the replica has failed and is not restarted */
};
/* Decides what follows from the state of the replica and its restart policy. */
enum training_verdict training_replica_judge(const struct training_replica *replica,
                                             enum training_restart_policy policy);

/* Reads the annotations of the job into the replicas. Invalid entries, for example after an edit,
 * are ignored. */
void training_restarts_read(struct training_replicas *replicas, const struct training_job *job,
                            struct arena *arena);
/* Adds changed annotations to the plan. If the spec does not have a replica any more, its observed
 * pod is recorded as deleted by the operator. So the pod does not count as lost if the spec gets
 * the replica again. */
void training_restarts_write(const struct training_replicas *replicas,
                             const struct training_job *job,
                             const struct training_observed *observed, struct training_plan *plan);

/* Counts the restart of the replica's current pod: adds one, and the pod's restarts in place, which
 * are lost with the pod. A program that fails repeatedly is restarted with growing delays, like
 * containers on a node. From the second restart on, the next pod is created at least 10 s, 20 s … 5
 * min after the failed pod was created. */
void training_replica_count_restart(struct training_replica *replica);

/* Records that the operator deletes the replica's current pod, so that its end has no consequence.
 * The restarts in place that are lost with the pod are counted. */
void training_replica_mark_deleted(struct training_replica *replica);

/* Sets *ret_stored to the number of restarts that are stored on the job, and *ret_in_place to the
 * number of restarts in place of pending and running pods. Replicas with the policy Never do not
 * count for the second number. */
void training_replicas_restarts(const struct training_replicas *replicas,
                                const struct training_job *job, int64_t *ret_stored,
                                int64_t *ret_in_place);

#endif
