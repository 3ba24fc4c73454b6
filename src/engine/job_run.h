/* Carrying out the plan for one job: the status first, then each kind of action after the one
 * before, some calls at a time. Private to the Job controller. */
#ifndef TRAINYARD_ENGINE_JOB_RUN_H
#define TRAINYARD_ENGINE_JOB_RUN_H

#include "base/vec.h"
#include "engine/hub.h"
#include "engine/job.h"

struct job_run;

/* What the run tells its owner. `wrote` comes for each object that is written and whose new state
 * the informers have not shown yet: the job, or a new pod. The run frees itself after `done`. */
struct job_run_events {
    void (*wrote)(void *context, struct job_run *run, const struct json *object);
    void (*done)(void *context, struct job_run *run, bool failed);
};

struct job_run {
    struct hub_task task;
    struct hub *hub;
    char *key;               /* "namespace/name" */
    struct kube_object *job; /* references of the run's, as all it holds */
    VEC(struct kube_object *) pods;
    struct arena *arena;
    struct job_plan plan;
    const struct job_run_events *events;
    void *context;

    /* Private. */
    int stage; /* -1: the status; then the type of the actions */
    size_t position, under_way;
    bool failed;
    struct loop_task end;
};

struct job_run *job_run_new(struct hub *hub, const char *key, struct kube_object *job);
void job_run_start(struct job_run *run); /* `done` comes from the loop, never from within */

#endif
