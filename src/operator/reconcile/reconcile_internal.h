/* What the files of the reconcile share: one pass over one job. */
#ifndef TRAINYARD_OPERATOR_RECONCILE_INTERNAL_H
#define TRAINYARD_OPERATOR_RECONCILE_INTERNAL_H

#include "operator/kind/training_job.h"
#include "operator/reconcile/reconcile.h"
#include "operator/reconcile/replica_state.h"

struct training_pass {
    const struct training_observed *observed;
    struct arena *arena;
    int64_t now_ms;
    struct training_job job;
    struct training_replicas replicas;
    const struct training_gang *gang; /* the job starts as one; or NULL */
    bool keeps_group;                 /* … and its PodGroup is ours to keep */
    /* A living pod that was marked for another gang than the operator's, or NULL. */
    const struct json *elsewhere;
    struct json *status; /* becomes the new status */
    struct training_plan *plan;
};

/* outcome.c: whether the job has come to its end. */
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
/* The chief, or without one any worker, is running. */
bool training_pass_is_running(const struct training_pass *pass);
/* There is not to be one of them: the job was scaled to nothing and waits to be scaled up again. */
bool training_pass_has_no_replicas(const struct training_pass *pass);
/* … and says so: it does not run, its state is Created, and the message is what it waits for. That
 * ends when there is to be one again. */
void training_pass_note_waiting(struct training_pass *pass);
/* No replica of its own failed the job, says its condition: backoffLimit or activeDeadlineSeconds
 * did, or an edit that made no sense. */
bool training_pass_was_stopped(const struct training_pass *pass);

/* claim.c: let go of pods that are not labelled as the job's any more. */
void training_pass_release(struct training_pass *pass);
/* Take what is labelled as the job's and has no controller; true if there was any. */
bool training_pass_adopt(struct training_pass *pass);

/* progress.c: a job that has not ended. */
void training_pass_continue(struct training_pass *pass);

/* Pods that should have been gone for a while are removed by force. */
void training_pass_delete_overdue(struct training_pass *pass);

/* teardown.c: jobs that shall not run (any more). */
void training_pass_finished(struct training_pass *pass);
void training_pass_suspended(struct training_pass *pass);
/* After a suspension: true when the job may start again. */
bool training_pass_resume(struct training_pass *pass);

/* host_network.c: ports of the nodes. False: there are too few, nothing can be made. */
bool training_pass_assign_ports(struct training_pass *pass);
/* The job shall not run (any more): let go of them once its last pod has ended. */
void training_pass_release_ports(struct training_pass *pass);

/* pod_group.c: the job's PodGroup. */
void training_pass_find_gang(struct training_pass *pass);
bool training_pass_waits_for_group(const struct training_pass *pass); /* no pod may be made now */
void training_pass_keep_group(struct training_pass *pass);
void training_pass_drop_group(struct training_pass *pass);

/* pod_news.c: what is wrong with the pods, as events. */
void training_pass_report_pods(struct training_pass *pass);
void training_pass_report_exit(struct training_pass *pass, const struct training_replica *replica);

/* reconcile.c: the condition that every job has, in the words of a job that need not wait. */
void training_pass_note_created(struct training_pass *pass);

/* The kind's words and reasons for this job; see training_job.h. */
const char *training_pass_message(const struct training_pass *pass, const char *messages);
const char *training_pass_reason(const struct training_pass *pass, const char *event);
/* status.startTime, status.completionTime: wall time, or -1. */
int64_t training_pass_time(const struct training_pass *pass, const char *name);
void training_pass_set_time(struct training_pass *pass, const char *name);
/* Set a condition and, where it is news, tell it as an event. */
void training_pass_set_condition(struct training_pass *pass, const char *type, bool is_true,
                                 const char *reason, const char *message);

#endif
