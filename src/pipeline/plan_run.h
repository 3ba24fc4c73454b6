/* Carrying out a plan: the calls to the API, the status first, then some at a time. */
#ifndef TRAINYARD_PIPELINE_PLAN_RUN_H
#define TRAINYARD_PIPELINE_PLAN_RUN_H

#include "kube/client.h"
#include "pipeline/cache.h"
#include "pipeline/plan.h"

struct workflow_run;

/* The run has ended and frees itself when this returns. */
typedef void workflow_run_done(void *context, struct workflow_run *run, bool failed);

struct workflow_run {
    struct loop *loop;
    struct kube_client *client;
    struct workflow_entry *entry;
    struct kube_object *workflow; /* a reference of the run's */
    struct arena *arena;          /* the plan's; the run's to free */
    struct workflow_plan plan;
    VEC(struct kube_object *) held;  /* what the plan points into; the run's to unref */
    size_t gone_count, result_count; /* that the plan has dealt with */
    size_t calls_max;
    workflow_run_done *done;
    void *context;
    struct workflow_run *next, *previous; /* the owner's list */

    /* Private. */
    size_t position, under_way;
    bool failed;
    struct loop_task end;
};

struct workflow_run *workflow_run_new(void);
/* Also with calls under way, if the client has been freed before. */
struct workflow_run *workflow_run_free(struct workflow_run *run);

/* All but the private members are set. `done` comes from the loop, never from within. */
void workflow_run_start(struct workflow_run *run);

#endif
