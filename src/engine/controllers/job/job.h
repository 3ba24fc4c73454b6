/* The heart of the Job controller: from a job, its pods and the time, what shall be done. A pure
 * function, so that every rule is a row of a test and whole lives of jobs run against dice.
 *
 * A pod that ended is counted once, whatever dies in between: it carries a finalizer until then.
 * First its uid is written into the job's status (uncountedTerminatedPods); then the finalizer is
 * taken away; and only when the pod is seen without it does the uid turn into a number. The index
 * of a pod that succeeded is a member of a set and needs no such care. */
#ifndef TRAINYARD_ENGINE_JOB_H
#define TRAINYARD_ENGINE_JOB_H

#include "base/json/json.h"
#include "kube/kinds/job.h"

#define JOB_FINALIZER          "batch.kubernetes.io/job-tracking"
#define JOB_INDEX_KEY          "batch.kubernetes.io/job-completion-index" /* annotation, label */
#define JOB_STOPPED_ANNOTATION "trainyard.dev/job-stopped" /* ended on our word: no failure */
#define JOB_COMPONENT          "job-controller"

/* What is done comes in this order, each kind after the one before has been answered: nothing
 * happens on the ground of a status that was not written. */
enum job_action_type {
    JOB_RELEASE_POD, /* take our finalizer away */
    JOB_MARK_POD,    /* say that its end will be no failure */
    JOB_DELETE_POD,
    JOB_CREATE_POD,
    JOB_DELETE_JOB,
    JOB_ACTION_TYPES,
};

struct job_action {
    enum job_action_type type;
    const struct json *object; /* the pod or job as it is, or the new pod */
};

struct job_event {
    bool warning;
    const char *reason, *message;
};

struct job_plan {
    struct json *status; /* the new one; NULL: as it is */
    struct job_action *actions;
    size_t action_count, action_capacity;
    struct job_event events[4]; /* to be told when the status is written */
    size_t event_count;
    int64_t requeue_ms; /* look again after so long; -1: when something changes */
};

struct job_observed {
    const struct json *job;         /* as the API gave it: valid, with its defaults */
    const struct json *const *pods; /* all that it controls */
    size_t pod_count;
    int64_t now_ms; /* wall time */
};

void job_reconcile(struct arena *arena, const struct job_observed *observed, struct job_plan *ret);

#endif
