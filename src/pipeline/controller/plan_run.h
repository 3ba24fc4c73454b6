/* Carrying out a plan: the calls to the API, the status first, then some at a time. */
#ifndef TRAINYARD_PIPELINE_PLAN_RUN_H
#define TRAINYARD_PIPELINE_PLAN_RUN_H

#include "kube/client/pass.h"
#include "pipeline/controller/cache.h"
#include "pipeline/reconcile/plan.h"

struct workflow_run {
    struct kube_pass pass;
    struct workflow_entry *entry;
    struct workflow_plan plan;
    size_t gone_count, result_count; /* that the plan has dealt with */
};

extern const struct kube_pass_stages WORKFLOW_RUN_STAGES; /* of its pass */

#endif
