/* One pass over one job, shared by the files of the Job reconcile. */
#ifndef TRAINYARD_ENGINE_CONTROLLERS_JOB_INTERNAL_H
#define TRAINYARD_ENGINE_CONTROLLERS_JOB_INTERNAL_H

#include "base/map.h"
#include "engine/controllers/job/indexes.h"
#include "engine/controllers/job/job.h"

/* From the job's spec. */
struct job_spec {
    const char *name, *namespace_, *uid;
    bool indexed, suspend, deleting;
    bool restarts_in_place; /* restartPolicy OnFailure */
    int64_t parallelism;
    int64_t completions; /* -1: a work queue, complete when one pod has succeeded and none runs */
    int64_t backoff_limit;
    int64_t deadline_s; /* -1: none */
    int64_t ttl_s;      /* -1: the job is kept */
};

enum job_pod_state {
    JOB_POD_ACTIVE,    /* pending or running */
    JOB_POD_LEAVING,   /* being deleted, and may still run */
    JOB_POD_SUCCEEDED, /* phase Succeeded */
    JOB_POD_FAILED,    /* ended in any other way */
};

struct job_pod {
    const struct json *json;
    const char *uid;
    enum job_pod_state state;
    bool tracked; /* the pod has JOB_FINALIZER */
    bool stopped; /* this controller stopped the pod */
    bool running, ready;
    int64_t index; /* -1: none */
    int64_t created_ms;
    int64_t ended_ms; /* when the pod ended; only valid if it has ended */
    /* A pod that is being deleted counts as ended at this time, even if no node reports it; 0:
     * never. */
    int64_t certain_ms;
    int64_t restarts; /* restarts in place by the node */
    bool surplus;     /* this pass stops the pod */
};

struct job_pass {
    const struct job_observed *observed;
    struct arena *arena;
    int64_t now_ms;
    struct job_spec spec;
    struct job_pod *pods;
    size_t count;
    struct map by_uid;          /* uid → struct job_pod */
    struct json *status;        /* becomes the new status */
    struct job_indexes indexes; /* the indexes that succeeded */
    int64_t succeeded, failed;  /* both include the pods in uncountedTerminatedPods */
    size_t uncounted;           /* the number of pods in uncountedTerminatedPods */
    size_t active, leaving, ready;
    bool crowded; /* more pods have ended than one pass may count */
    struct job_plan *plan;
};

/* view.c: reads jobs and pods. */
void job_spec_read(const struct json *job, struct job_spec *ret);
void job_pod_read(const struct json *pod, int64_t now_ms, struct job_pod *ret);

/* count.c: fills in all numbers of the pass and of its status. */
void job_pass_count(struct job_pass *pass);

/* pods.c: decides which pods to create and stop. */
void job_pass_stop_all(struct job_pass *pass, bool as_failures);
void job_pass_manage(struct job_pass *pass);

/* pod.c: returns the pod of an index (-1: no index), ready to be created. */
struct json *job_pod_new(struct arena *arena, const struct json *job, const struct job_spec *spec,
                         int64_t index);

/* plan.c */
void job_plan_add(struct job_pass *pass, enum job_action_type type, const struct json *object);
void job_plan_event(struct job_pass *pass, bool warning, const char *reason, const char *message);
void job_plan_requeue(struct job_pass *pass, int64_t delay_ms); /* the shortest delay counts */

/* Read and set conditions of the job's status. job_condition_set() keeps the old reason and message
 * if the condition's status does not change. */
bool job_condition_is_true(const struct json *status, const char *type);
const struct json *job_condition_find(const struct json *status, const char *type);
void job_condition_set(struct job_pass *pass, const char *type, bool is_true, const char *reason,
                       const char *message);
/* Returns the time in member `name`, or -1 if it is missing. */
int64_t job_status_time(const struct json *object, const char *name);
void job_status_set_time(struct job_pass *pass, const char *name);

#endif
