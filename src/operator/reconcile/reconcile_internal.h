/* Defines one pass of the reconcile over one job, and the functions that the files of the reconcile
 * offer to each other. They only add to the plan and to the copy of the status; nothing happens
 * before the controller carries out the plan. */
#ifndef TRAINYARD_OPERATOR_RECONCILE_RECONCILE_INTERNAL_H
#define TRAINYARD_OPERATOR_RECONCILE_RECONCILE_INTERNAL_H

#include "operator/kind/training_job.h"
#include "operator/reconcile/reconcile.h"
#include "operator/reconcile/replica_state.h"

struct training_pass {
    const struct training_observed *observed;
    struct arena *arena;
    int64_t now_ms;
    struct training_job job;
    struct training_replicas replicas;
    const struct training_gang *gang; /* the gang of the job; NULL: none */
    bool keeps_group;                 /* the operator keeps the job's PodGroup up to date */
    /* A live pod that was marked for a gang other than the operator's, or NULL. */
    const struct json *other_gang_pod;
    struct json *status; /* a copy of the job's status, which becomes the new status */
    struct training_plan *plan;
};

/* outcome.c: decides whether the job has ended. */
enum training_outcome {
    TRAINING_OUTCOME_NONE,
    TRAINING_OUTCOME_SUCCEEDED,
    TRAINING_OUTCOME_FAILED
};
struct training_judgement {
    enum training_outcome outcome;
    const char *message;
};
struct training_judgement training_pass_judge(struct training_pass *pass);
/* Returns whether the chief runs. In a job without a chief, returns whether any worker runs. */
bool training_pass_is_running(const struct training_pass *pass);
/* Returns whether the deciding replica type (the chief, or else the workers) has 0 replicas. Such a
 * job waits to be scaled up. */
bool training_pass_has_no_replicas(const struct training_pass *pass);
/* Sets the conditions of a job for which training_pass_has_no_replicas() is true: Running and
 * Restarting become False, and Created gets a message that tells what the job waits for. Sets the
 * usual message again when the job has replicas. */
void training_pass_note_waiting(struct training_pass *pass);
/* Returns whether the job failed for a reason other than a permanently failed replica:
 * backoffLimit, activeDeadlineSeconds, an invalid spec or a rejected pod. */
bool training_pass_was_stopped(const struct training_pass *pass);

/* claim.c: plans the release of pods that do not have the job's labels any more. */
void training_pass_release(struct training_pass *pass);
/* Plans the adoption of objects that have the job's labels but no controller. Returns whether the
 * plan adopts any. */
bool training_pass_adopt(struct training_pass *pass);

/* progress.c: continues a job that has not ended. */
void training_pass_continue(struct training_pass *pass);

/* progress.c: deletes by force pods whose deletion is long overdue. */
void training_pass_delete_overdue(struct training_pass *pass);

/* teardown.c: handles finished and suspended jobs. */
void training_pass_finished(struct training_pass *pass);
void training_pass_suspended(struct training_pass *pass);
/* Resumes a suspended job. Returns false as long as pods from before the suspension exist. */
bool training_pass_resume(struct training_pass *pass);

/* host_network.c: assigns host ports. Returns false if too few ports are free or the port table is
 * not complete yet. Then no pod can be created. */
bool training_pass_assign_ports(struct training_pass *pass);
/* Releases the ports of a finished or suspended job, each port when its pod has ended. */
void training_pass_release_ports(struct training_pass *pass);

/* pod_group.c: chooses the gang of the job. Sets `gang`, `keeps_group` and `other_gang_pod`. */
void training_pass_find_gang(struct training_pass *pass);
/* Returns whether no pod may be created now, because the job's PodGroup is not ready. */
bool training_pass_waits_for_group(const struct training_pass *pass);
/* Creates or updates the PodGroup of a job that has not ended, and reports what the job waits for.
 */
void training_pass_keep_group(struct training_pass *pass);
/* Deletes the PodGroup of a finished or suspended job. */
void training_pass_drop_group(struct training_pass *pass);

/* pod_events.c: reports problems of pods that run or start as events. */
void training_pass_report_pods(struct training_pass *pass);
/* Reports as events how the replica's pod ended. */
void training_pass_report_exit(struct training_pass *pass, const struct training_replica *replica);

/* reconcile.c: sets the condition Created, with the message of a job that has replicas. */
void training_pass_note_created(struct training_pass *pass);

/* Returns a message of the kind for this job; see training_job_message(). */
const char *training_pass_message(const struct training_pass *pass, const char *message);
/* Returns a reason with the kind in front; see training_job_reason(). */
const char *training_pass_reason(const struct training_pass *pass, const char *event);
/* Returns the time of this name in the status (startTime, completionTime) as wall time, or -1 if it
 * is missing or invalid. */
int64_t training_pass_time(const struct training_pass *pass, const char *name);
/* Sets the time of this name in the status to the current time. */
void training_pass_set_time(struct training_pass *pass, const char *name);
/* Sets a condition, and adds an event if it changed. */
void training_pass_set_condition(struct training_pass *pass, const char *type, bool is_true,
                                 const char *reason, const char *message);

#endif
