/* The decisions of the Job controller. A pure function computes the actions from a job, its pods
 * and the time. So a test needs no server, and whole lifetimes of jobs run in simulation.
 * job/controller.c calls it, and job/run.c carries out the plan.
 *
 * A pod that has ended is counted exactly once, even if this process dies in between, because the
 * pod keeps a finalizer until its uid is in the job's status (uncountedTerminatedPods). Then the
 * finalizer is removed. When an informer no longer shows the pod with the finalizer, the uid is
 * removed from the status and the number of succeeded or failed pods is raised. A completed index
 * needs no such steps: adding it to the set of indexes twice changes nothing. A failed pod that has
 * JOB_STOPPED_ANNOTATION is not counted. */
#ifndef TRAINYARD_ENGINE_CONTROLLERS_JOB_JOB_H
#define TRAINYARD_ENGINE_CONTROLLERS_JOB_JOB_H

#include "base/json/json.h"
#include "kube/kinds/job.h"

#define JOB_FINALIZER "batch.kubernetes.io/job-tracking"
#define JOB_INDEX_KEY "batch.kubernetes.io/job-completion-index" /* annotation, label */
/* The annotation of a pod that this controller stops, so that the end of the pod does not count as
 * a failure. The other pods of a job that has failed are stopped without it. */
#define JOB_STOPPED_ANNOTATION "trainyard.dev/job-stopped"
#define JOB_COMPONENT          "job-controller"

/* The status is written first; then the actions are carried out in this order. Each type of action
 * starts when all calls before it have been answered. After a failed call no further action starts,
 * because an action relies on the status and on the actions before it. */
enum job_action_type {
    JOB_RELEASE_POD, /* remove the finalizer */
    JOB_MARK_POD,    /* set JOB_STOPPED_ANNOTATION */
    JOB_DELETE_POD,
    JOB_CREATE_POD,
    JOB_DELETE_JOB,
    JOB_ACTION_TYPES,
};

struct job_action {
    enum job_action_type type;
    const struct json *object; /* the existing pod or job, or the pod to create */
};

struct job_event {
    bool warning;
    const char *reason, *message;
};

struct job_plan {
    struct json *status; /* the new status; NULL: no change */
    struct job_action *actions;
    size_t action_count, action_capacity;
    struct job_event events[4]; /* written after the status */
    size_t event_count;
    int64_t requeue_ms; /* reconcile again after this time; -1: when an object changes */
};

struct job_observed {
    const struct json *job;         /* as the API returned it: valid, with its defaults */
    const struct json *const *pods; /* all pods that the job controls */
    size_t pod_count;
    int64_t now_ms; /* wall time */
};

/* Fills in *ret. The plan is in the arena and refers to the observed objects. */
void job_reconcile(struct arena *arena, const struct job_observed *observed, struct job_plan *ret);

#endif
