/* Defines one pass of the reconcile over one job, for the files of the reconcile. */
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
    const struct json *elsewhere;
    struct json *status; /* a copy that becomes the new status */
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
/* Returns whether the job was scaled to zero replicas and waits to be scaled up. */
bool training_pass_has_no_replicas(const struct training_pass *pass);
/* Sets the conditions of a job with zero replicas: it is not Running, its state is Created, and the
 * message tells what it waits for. Reverts this when the job has replicas again. */
void training_pass_note_waiting(struct training_pass *pass);
/* Returns whether the job failed for a reason other than a replica: backoffLimit,
 * activeDeadlineSeconds or an invalid edit. */
bool training_pass_was_stopped(const struct training_pass *pass);

/* claim.c: releases pods that do not have the job's labels any more. */
void training_pass_release(struct training_pass *pass);
/* Adopts objects with the job's labels that have no controller. Returns whether there were any. */
bool training_pass_adopt(struct training_pass *pass);

/* progress.c: continues a job that has not ended. */
void training_pass_continue(struct training_pass *pass);

/* Deletes pods by force that should have terminated a while ago. */
void training_pass_delete_overdue(struct training_pass *pass);

/* teardown.c: handles finished and suspended jobs. */
void training_pass_finished(struct training_pass *pass);
void training_pass_suspended(struct training_pass *pass);
/* Resumes a suspended job. Returns true when it may start again. */
bool training_pass_resume(struct training_pass *pass);

/* host_network.c: assigns node ports. Returns false if too few ports are free. Then no pod can be
 * created. */
bool training_pass_assign_ports(struct training_pass *pass);
/* Releases the ports of a job that does not run, each port when its pod has ended. */
void training_pass_release_ports(struct training_pass *pass);

/* pod_group.c: plans the job's PodGroup. */
void training_pass_find_gang(struct training_pass *pass);
bool training_pass_waits_for_group(
    const struct training_pass *pass); /* no pod may be created now */
void training_pass_keep_group(struct training_pass *pass);
void training_pass_drop_group(struct training_pass *pass);

/* pod_events.c: reports problems of pods as events. */
void training_pass_report_pods(struct training_pass *pass);
void training_pass_report_exit(struct training_pass *pass, const struct training_replica *replica);

/* reconcile.c: sets the condition Created, with the message of a job that does not have to wait. */
void training_pass_note_created(struct training_pass *pass);

/* Return the kind's messages and reasons for this job; see training_job.h. */
const char *training_pass_message(const struct training_pass *pass, const char *messages);
const char *training_pass_reason(const struct training_pass *pass, const char *event);
/* Returns status.startTime or status.completionTime as wall time, or -1. */
int64_t training_pass_time(const struct training_pass *pass, const char *name);
void training_pass_set_time(struct training_pass *pass, const char *name);
/* Sets a condition, and adds an event if it changed. */
void training_pass_set_condition(struct training_pass *pass, const char *type, bool is_true,
                                 const char *reason, const char *message);

#endif
