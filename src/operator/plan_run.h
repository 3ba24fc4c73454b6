/* Carrying out a plan: the calls to the API, in the plan's order, some at a time. */
#ifndef TRAINYARD_OPERATOR_PLAN_RUN_H
#define TRAINYARD_OPERATOR_PLAN_RUN_H

#include "kube/client.h"
#include "operator/job_cache.h"
#include "operator/plan.h"
#include "operator/training_kind.h"

struct plan_run;
struct training_metrics;

/* The run has ended and frees itself when this returns. */
typedef void plan_run_done(void *context, struct plan_run *run, bool failed);

struct plan_run {
    struct loop *loop;
    struct kube_client *client;
    const struct training_kind *kind;
    const struct kube_resource *pod_groups; /* those of the gang scheduler, or NULL */
    struct job_entry *entry;
    struct kube_object *job; /* a reference of the run's */
    struct arena *arena;     /* the plan's; the run's to free */
    struct training_plan plan;
    VEC(struct kube_object *) held; /* what the plan points into; the run's to unref */
    size_t gone_count;              /* vanished pods that the plan has dealt with */
    size_t calls_max;
    const struct training_metrics *metrics;
    int64_t started_ms; /* for the owner */
    plan_run_done *done;
    void *context;
    struct plan_run *next, *previous; /* the owner's list */

    /* Private. */
    int stage;
    size_t position, under_way;
    bool failed;
    const char *resource_version; /* of the job, after the first write */
    size_t autoscaler_version;    /* that is being tried */
    struct loop_task end;
};

struct plan_run *plan_run_new(void);
/* Also with calls under way, if the client has been freed before. */
struct plan_run *plan_run_free(struct plan_run *run);

/* All but the private members are set. `done` comes from the loop, never from within. */
void plan_run_start(struct plan_run *run);

/* Private, plan_autoscaler.c: whether the server must be asked, and asking it. */
bool plan_run_needs_autoscaler(struct plan_run *run);
void plan_run_start_autoscaler(struct plan_run *run);
/* Private, plan_run.c: a call has been answered, do what is next. */
void plan_run_advance(struct plan_run *run);

#endif
