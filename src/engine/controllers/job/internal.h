/* One pass over one job (job.h), shared by the files that decide it. Only these files include this
 * header. */
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
    bool stopped; /* the pod has JOB_STOPPED_ANNOTATION */
    bool running, ready;
    int64_t index; /* -1: none */
    int64_t created_ms;
    int64_t ended_ms; /* when the pod ended; only valid if it has ended */
    /* For JOB_POD_LEAVING: when the pod counts as ended, even if no node reports its end; 0: only
     * after a report. */
    int64_t forced_end_ms;
    int64_t restarts; /* how often the node has restarted containers of the pod */
    bool stopping;    /* this pass stops the pod */
};

struct job_pass {
    const struct job_observed *observed;
    struct arena *arena;
    int64_t now_ms;
    struct job_spec spec;
    struct job_pod *pods;
    size_t count;
    struct map by_uid;          /* uid → struct job_pod; job_pass_count() removes counted pods */
    struct json *status;        /* becomes the new status */
    struct job_indexes indexes; /* the indexes that succeeded */
    int64_t succeeded, failed;  /* both include the pods in uncountedTerminatedPods */
    size_t uncounted;           /* the number of pods in uncountedTerminatedPods */
    size_t active, leaving, ready;
    /* uncountedTerminatedPods is full, so a later pass counts the other pods that have ended. */
    bool has_more_to_count;
    struct job_plan *plan;
};

/* ---- view.c: reads jobs and pods */

void job_spec_read(const struct json *job, struct job_spec *ret);
void job_pod_read(const struct json *pod, int64_t now_ms, struct job_pod *ret);

/* ---- count.c */

/* Counts the pods, fills in all numbers of the pass and of its status, and plans JOB_RELEASE_POD.
 */
void job_pass_count(struct job_pass *pass);

/* ---- pods.c */

/* Plans to stop all active pods. With `as_failures` their ends count as failures. */
void job_pass_stop_all(struct job_pass *pass, bool as_failures);
/* Plans to create missing pods, and to stop pods that the job does not need. */
void job_pass_manage(struct job_pass *pass);

/* ---- pod.c */

/* Returns the pod of an index (-1: no index), ready to be created. */
struct json *job_pod_new(struct arena *arena, const struct json *job, const struct job_spec *spec,
                         int64_t index);

/* ---- plan.c: records decisions */

void job_plan_add(struct job_pass *pass, enum job_action_type type, const struct json *object);
void job_plan_event(struct job_pass *pass, bool warning, const char *reason, const char *message);
void job_plan_requeue(struct job_pass *pass, int64_t delay_ms); /* the shortest delay counts */

bool job_condition_is_true(const struct json *status, const char *type);
/* Returns the condition, or NULL. */
const struct json *job_condition_find(const struct json *status, const char *type);
/* Sets a condition of the job's status. Does nothing if the condition has this status already. */
void job_condition_set(struct job_pass *pass, const char *type, bool is_true, const char *reason,
                       const char *message);
/* Returns the wall time in member `name` of `object` in ms, or -1 if it is missing or invalid. */
int64_t job_status_time(const struct json *object, const char *name);
/* Sets member `name` of the job's status to the time of the pass. */
void job_status_set_time(struct job_pass *pass, const char *name);

#endif
