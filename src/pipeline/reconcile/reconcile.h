/* The heart of the pipelines: from a workflow and what became of its steps, what shall be done. A
 * pure function of what was observed and the time, so that rules are tested as rows of a table and
 * whole lives of workflows run in simulation. */
#ifndef TRAINYARD_PIPELINE_RECONCILE_H
#define TRAINYARD_PIPELINE_RECONCILE_H

#include "base/json/json.h"
#include "pipeline/reconcile/plan.h"

/* What became of an action that was done for a node. */
struct workflow_result {
    const char *node_id;
    const struct json *object; /* what the server answered, or NULL */
    const char *error;         /* why it refused, or NULL */
};

/* Objects as the API gave them. Pods are those labelled with the workflow's name; `gone` the last
 * states of those that vanished since the last pass. */
struct workflow_observed {
    const struct json *workflow;
    const struct json *const *pods;
    size_t pod_count;
    const struct json *const *gone;
    size_t gone_count;
    const struct workflow_result *results;
    size_t result_count;
    int64_t now_ms;         /* wall time */
    const char *step_image; /* NULL: trainyard/step */
    bool make_accounts;     /* of service accounts that are not there */
};

int workflow_reconcile(const struct workflow_observed *observed, struct arena *arena,
                       struct workflow_plan *ret_plan, struct err *err);

#endif
