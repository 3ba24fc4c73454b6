/* Carries out a plan: makes the API calls stage by stage, several calls of one stage at a time. The
 * controller creates a plan_run per pass and frees it when the pass has ended. Must be used on the
 * loop thread. */
#ifndef TRAINYARD_OPERATOR_CONTROLLER_PLAN_RUN_H
#define TRAINYARD_OPERATOR_CONTROLLER_PLAN_RUN_H

#include "kube/client/pass.h"
#include "operator/controller/job_cache.h"
#include "operator/kind/training_kind.h"
#include "operator/reconcile/plan.h"

struct training_metrics;

struct plan_run {
    struct kube_pass pass; /* the calls of this run */
    const struct training_kind *kind;
    const struct kube_resource *pod_groups; /* the PodGroups of the gang scheduler, or NULL */
    struct job_entry *entry;                /* the cache entry of the job */
    struct training_plan plan;
    const struct json *const *gone; /* vanished pods that the plan has handled */
    size_t gone_count;
    const struct training_metrics *metrics;
    int64_t started_ms; /* start of the pass on the loop's clock */

    /* Private. */
    bool outdated;        /* the plan is based on an outdated state, so it is not carried out */
    bool creates_nothing; /* a stage that new pods depend on has failed, or the server rejects a pod
                             for good, so no further object is created */
    /* The resourceVersion of the job after the annotations were written. NULL: not written. */
    const char *resource_version;
    size_t autoscaler_version; /* index of the autoscaling version that is tried */
};

extern const struct kube_pass_stages PLAN_RUN_STAGES; /* the stages of plan_run.pass */

enum plan_stage {
    PLAN_CHECK,       /* reads the job and vanished pods from the server (plan_check.c) */
    PLAN_CLAIM,       /* adopts and releases objects */
    PLAN_ANNOTATIONS, /* writes the annotations of the job */
    PLAN_GROUP,       /* creates or updates the PodGroup */
    PLAN_SERVICES,    /* creates services */
    PLAN_PODS,        /* creates pods; deletes any kind of object */
    PLAN_AUTOSCALER,
    PLAN_STATUS, /* writes the status of the job; then the events are reported */
    PLAN_STAGES,
};

/* ---- Private, plan_action.c */

/* Returns the stage that an action belongs to. */
enum plan_stage plan_action_stage(const struct training_action *action);
/* Starts the API call of an action. */
void plan_action_start(struct plan_run *run, const struct training_action *action);
/* Returns whether the error means that the server rejects the object itself, so that a retry would
 * fail too. A rejection by a webhook, a policy or a quota is not final, because a later attempt may
 * succeed. */
bool plan_error_is_final(const struct err *err);
bool plan_action_adopts(const struct training_action *action);
bool plan_action_creates(const struct training_action *action);

/* Private, plan_check.c: starts the next call of the stage PLAN_CHECK. Returns false if no call is
 * left. */
bool plan_check_start_next(struct plan_run *run);

/* ---- Private, plan_autoscaler.c */

/* Returns whether the autoscaler must be created, changed or deleted. */
bool plan_run_needs_autoscaler(struct plan_run *run);
/* Starts the API calls that create, change or delete the autoscaler. */
void plan_run_start_autoscaler(struct plan_run *run);

#endif
