/* Carries out a plan: makes the API calls stage by stage, several calls of one stage at a time. */
#ifndef TRAINYARD_OPERATOR_CONTROLLER_PLAN_RUN_H
#define TRAINYARD_OPERATOR_CONTROLLER_PLAN_RUN_H

#include "kube/client/pass.h"
#include "operator/controller/job_cache.h"
#include "operator/kind/training_kind.h"
#include "operator/reconcile/plan.h"

struct training_metrics;

struct plan_run {
    struct kube_pass pass;
    const struct training_kind *kind;
    const struct kube_resource *pod_groups; /* the PodGroups of the gang scheduler, or NULL */
    struct job_entry *entry;
    struct training_plan plan;
    const struct json *const *gone; /* vanished pods that the plan has handled */
    size_t gone_count;
    const struct training_metrics *metrics;
    int64_t started_ms;

    /* Private. */
    bool overtaken;     /* the plan is based on an outdated state */
    bool makes_nothing; /* a stage that new pods depend on has failed, so no further object is
                           created */
    const char *resource_version; /* resourceVersion of the job after the first write */
    size_t autoscaler_version;    /* index of the autoscaling version that is tried */
};

extern const struct kube_pass_stages PLAN_RUN_STAGES; /* the stages of plan_run.pass */

enum plan_stage {
    PLAN_CHECK, /* asks the server whether the job and missing pods exist (plan_check.c) */
    PLAN_CLAIM,
    PLAN_REMEMBER,
    PLAN_GROUP,
    PLAN_SERVICES,
    PLAN_PODS,
    PLAN_AUTOSCALER,
    PLAN_STATUS,
    PLAN_STAGES,
};

/* ---- Private, plan_action.c */

/* Returns the stage of an action. */
enum plan_stage plan_action_stage(const struct training_action *action);
/* Starts the API call of an action. */
void plan_action_start(struct plan_run *run, const struct training_action *action);
/* Returns whether the server rejects the object itself, so that a retry would fail too. A rejection
 * by a webhook, a policy or a quota is not final, because a later attempt may succeed. */
bool plan_action_is_final(const struct err *err);
bool plan_action_adopts(const struct training_action *action);
bool plan_action_creates(const struct training_action *action);

/* Private, plan_check.c: starts the next call of the stage PLAN_CHECK. Returns false if no call is
 * left. */
bool plan_check_start_next(struct plan_run *run);

/* ---- Private, plan_autoscaler.c */

/* Returns whether the autoscaler must be created, changed or deleted. */
bool plan_run_needs_autoscaler(struct plan_run *run);
/* Starts the API call that does it. */
void plan_run_start_autoscaler(struct plan_run *run);

#endif
