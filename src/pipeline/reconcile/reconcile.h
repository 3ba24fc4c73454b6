/* Reconciles a workflow: decides from the workflow and the state of its steps what to do next.
 * Pure: the result depends only on `observed`. So tests can check each rule as a row of a table,
 * and simulate whole workflows. */
#ifndef TRAINYARD_PIPELINE_RECONCILE_RECONCILE_H
#define TRAINYARD_PIPELINE_RECONCILE_RECONCILE_H

#include "base/json/json.h"
#include "pipeline/reconcile/plan.h"

/* The result of an action that an earlier pass planned. */
struct workflow_result {
    const char *node_id;       /* as in struct workflow_action */
    const struct json *object; /* the server's answer, or NULL */
    const char *error;         /* the server's error, or NULL */
};

/* Objects as the API returned them. `pods` are the pods that are labelled with the workflow's name.
 * `gone` are the last versions of deleted pods that no earlier pass has handled. */
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
    bool make_accounts;     /* create missing service accounts */
};

/* Fills in *ret_plan, which is in the arena and refers to the observed objects. Returns 0, or
 * -ERR_INTERNAL if the workflow has no name or uid. */
int workflow_reconcile(const struct workflow_observed *observed, struct arena *arena,
                       struct workflow_plan *ret_plan, struct err *err);

#endif
