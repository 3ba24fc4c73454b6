/* What the files of the reconcile share: one pass over one job. */
#ifndef TRAINYARD_OPERATOR_RECONCILE_INTERNAL_H
#define TRAINYARD_OPERATOR_RECONCILE_INTERNAL_H

#include "operator/reconcile.h"
#include "operator/replica_state.h"
#include "operator/tfjob.h"

struct tfjob_pass {
    const struct tfjob_observed *observed;
    struct arena *arena;
    int64_t now_ms;
    struct tfjob job;
    struct tfjob_replicas replicas;
    struct json *status; /* becomes the new status */
    struct tfjob_plan *plan;
};

/* outcome.c: whether the job has come to its end. */
enum tfjob_outcome { TFJOB_OUTCOME_NONE, TFJOB_OUTCOME_SUCCEEDED, TFJOB_OUTCOME_FAILED };
struct tfjob_judgement {
    enum tfjob_outcome outcome;
    const char *message;
    bool warning; /* the event that tells it is one */
};
struct tfjob_judgement tfjob_pass_judge(struct tfjob_pass *pass);
/* The chief, or without one any worker, is running. */
bool tfjob_pass_is_running(const struct tfjob_pass *pass);
/* The job was failed by backoffLimit or activeDeadlineSeconds, says its condition. */
bool tfjob_pass_failed_by_limit(const struct tfjob_pass *pass);

/* progress.c: a job that has not ended. */
void tfjob_pass_go_on(struct tfjob_pass *pass);

/* teardown.c: jobs that shall not run (any more). */
void tfjob_pass_finished(struct tfjob_pass *pass);
void tfjob_pass_suspended(struct tfjob_pass *pass);
/* After a suspension: true when the job may start again. */
bool tfjob_pass_resume(struct tfjob_pass *pass);

/* pod_news.c: what is wrong with the pods, as events. */
void tfjob_pass_report_pods(struct tfjob_pass *pass);
void tfjob_pass_report_exit(struct tfjob_pass *pass, const struct tfjob_replica *replica);

/* status.startTime, status.completionTime: wall time, or -1. */
int64_t tfjob_pass_time(const struct tfjob_pass *pass, const char *name);
void tfjob_pass_set_time(struct tfjob_pass *pass, const char *name);
/* Set a condition and, where it is news, tell it as an event. */
void tfjob_pass_set_condition(struct tfjob_pass *pass, const char *type, bool is_true,
                              const char *reason, const char *message);

#endif
