/* Carries out the plan for a workflow: writes the status first, then makes the API calls of the
 * actions, several at once. Used by controller.c only. */
#ifndef TRAINYARD_PIPELINE_CONTROLLER_PLAN_RUN_H
#define TRAINYARD_PIPELINE_CONTROLLER_PLAN_RUN_H

#include "kube/client/pass.h"
#include "pipeline/controller/cache.h"
#include "pipeline/reconcile/plan.h"

/* The run of one plan, which is one pass over one workflow. */
struct workflow_plan_run {
    struct kube_pass pass;
    struct workflow_entry *entry;
    struct workflow_plan plan;
    /* The number of deleted pods and of results of earlier actions in `entry` that the plan took
     * into account. */
    size_t gone_count, result_count;
};

extern const struct kube_pass_stages WORKFLOW_PLAN_RUN_STAGES; /* the stages of `pass` */

#endif
