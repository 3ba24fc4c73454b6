/* The decisions of the Job controller: the input is a job, its pods and the time, the output the
 * actions. A pure function, so that every rule is a row of a test and whole lifetimes of jobs run
 * in simulation.
 *
 * Every pod that ended is counted exactly once, whichever process dies in between: the pod has a
 * finalizer until it is counted. First its uid is written into the job's status
 * (uncountedTerminatedPods). Then the finalizer is removed. When the pod is seen without the
 * finalizer, the uid is replaced by a number. The index of a pod that succeeded is a member of a
 * set and needs no such care. */
#ifndef TRAINYARD_ENGINE_CONTROLLERS_JOB_JOB_H
#define TRAINYARD_ENGINE_CONTROLLERS_JOB_JOB_H

#include "base/json/json.h"
#include "kube/kinds/job.h"

#define JOB_FINALIZER "batch.kubernetes.io/job-tracking"
#define JOB_INDEX_KEY "batch.kubernetes.io/job-completion-index" /* annotation, label */
/* Set on pods that this controller stops: their end is no failure. */
#define JOB_STOPPED_ANNOTATION "trainyard.dev/job-stopped"
#define JOB_COMPONENT          "job-controller"

/* The actions are carried out in this order. Each type starts when all responses to the one before
 * have arrived, so that no action follows from a status that was not written. */
enum job_action_type {
    JOB_RELEASE_POD, /* remove the finalizer */
    JOB_MARK_POD,    /* mark that its end will be no failure */
    JOB_DELETE_POD,
    JOB_CREATE_POD,
    JOB_DELETE_JOB,
    JOB_ACTION_TYPES,
};

struct job_action {
    enum job_action_type type;
    const struct json *object; /* the present pod or job, or the new pod */
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
    const struct json *const *pods; /* all pods that it controls */
    size_t pod_count;
    int64_t now_ms; /* wall time */
};

void job_reconcile(struct arena *arena, const struct job_observed *observed, struct job_plan *ret);

#endif
