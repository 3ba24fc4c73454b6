/* What the files of the Job reconcile share: one pass over one job. */
#ifndef TRAINYARD_ENGINE_JOB_INTERNAL_H
#define TRAINYARD_ENGINE_JOB_INTERNAL_H

#include "base/map.h"
#include "engine/controllers/job/indexes.h"
#include "engine/controllers/job/job.h"

/* What the job asks for. */
struct job_spec {
    const char *name, *namespace_, *uid;
    bool indexed, suspend, deleting;
    bool restarts_in_place; /* restartPolicy OnFailure */
    int64_t parallelism;
    int64_t completions; /* -1: a work queue, done when one succeeded and none runs */
    int64_t backoff_limit;
    int64_t deadline_s; /* -1: none */
    int64_t ttl_s;      /* -1: kept */
};

enum job_pod_state {
    JOB_POD_ACTIVE,    /* waiting or running */
    JOB_POD_LEAVING,   /* being deleted, and may still run */
    JOB_POD_SUCCEEDED, /* ended well */
    JOB_POD_FAILED,    /* ended in any other way */
};

struct job_pod {
    const struct json *json;
    const char *uid;
    enum job_pod_state state;
    bool tracked; /* carries our finalizer */
    bool stopped; /* it was our word that ended it */
    bool running, ready;
    int64_t index; /* -1: none */
    int64_t created_ms;
    int64_t ended_ms;   /* of one that ended */
    int64_t certain_ms; /* when one that is leaving counts as ended at the latest; 0: never */
    int64_t restarts;   /* in place, by the node */
    bool surplus;       /* chosen to be stopped in this pass */
};

struct job_pass {
    const struct job_observed *observed;
    struct arena *arena;
    int64_t now_ms;
    struct job_spec spec;
    struct job_pod *pods;
    size_t count;
    struct map by_uid;          /* struct job_pod */
    struct json *status;        /* becomes the new status */
    struct job_indexes indexes; /* that succeeded */
    int64_t succeeded, failed;  /* those included whose uid is written down but not counted yet */
    size_t uncounted;           /* of those */
    size_t active, leaving, ready;
    bool crowded; /* more have ended than one pass may count */
    struct job_plan *plan;
};

/* job_view.c: reading. */
void job_spec_read(const struct json *job, struct job_spec *ret);
void job_pod_read(const struct json *pod, int64_t now_ms, struct job_pod *ret);

/* job_count.c: the books. Fills in all the numbers of the pass and of its status. */
void job_pass_count(struct job_pass *pass);

/* job_pods.c: which pods there shall be. */
void job_pass_stop_all(struct job_pass *pass, bool as_failures);
void job_pass_manage(struct job_pass *pass);

/* job_pod.c: the pod of an index (-1: of none), ready to be created. */
struct json *job_pod_new(struct arena *arena, const struct json *job, const struct job_spec *spec,
                         int64_t index);

/* job_plan.c */
void job_plan_add(struct job_pass *pass, enum job_action_type type, const struct json *object);
void job_plan_event(struct job_pass *pass, bool warning, const char *reason, const char *message);
void job_plan_requeue(struct job_pass *pass, int64_t delay_ms); /* the earliest wins */

/* status.conditions; reason and message are kept where the status does not change. */
bool job_condition_is_true(const struct json *status, const char *type);
const struct json *job_condition_find(const struct json *status, const char *type);
void job_condition_set(struct job_pass *pass, const char *type, bool is_true, const char *reason,
                       const char *message);
/* A time in the status; -1: none. */
int64_t job_status_time(const struct json *object, const char *name);
void job_status_set_time(struct job_pass *pass, const char *name);

#endif
