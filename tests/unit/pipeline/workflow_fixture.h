/* One workflow in a test. It is written as YAML and reconciled, the test sets the phases of its
 * pods, and the result is read back as short texts, so that a rule is one row of a table. */
#ifndef TRAINYARD_TESTS_UNIT_PIPELINE_WORKFLOW_FIXTURE_H
#define TRAINYARD_TESTS_UNIT_PIPELINE_WORKFLOW_FIXTURE_H

#include "base/json/json.h"
#include "pipeline/reconcile/reconcile.h"

enum { FIXTURE_PODS_MAX = 64, FIXTURE_RESULTS_MAX = 16 };

struct workflow_fixture {
    struct arena *arena;
    struct json *workflow; /* default/wf, uid "wf-uid" */
    struct json *pods[FIXTURE_PODS_MAX], *gone[FIXTURE_PODS_MAX];
    size_t pod_count, gone_count;
    struct workflow_result results[FIXTURE_RESULTS_MAX];
    size_t result_count;
    int64_t now_ms; /* starts at 2026-11-15T02:00:00Z */
    struct workflow_plan plan;
    size_t created; /* number of pods created so far */
};

/* Returns a Workflow named "wf" with this spec in YAML. */
struct json *fixture_workflow(struct arena *arena, const char *spec);

void fixture_init(struct workflow_fixture *fixture, const char *spec);
void fixture_release(struct workflow_fixture *fixture);

/* Reconciles, stores the status and applies the plan until nothing changes. New pods stay Pending.
 * A created resource is answered with the object that was sent. */
void fixture_settle(struct workflow_fixture *fixture);
/* Sets the phase of the node's pod: "Running", "Succeeded" or "Failed". `message` is the
 * termination message of its main container, or NULL. Then settles. */
void fixture_pod(struct workflow_fixture *fixture, const char *node, const char *phase,
                 int exit_code, const char *message);
/* Removes the pod in its present phase. Then settles. */
void fixture_vanish(struct workflow_fixture *fixture, const char *node);

/* Returns the phases of the nodes below "wf.", sorted by name: "a=Succeeded b(0)=Running". The
 * root's name is "". */
char *fixture_nodes(struct workflow_fixture *fixture);
const char *fixture_phase(struct workflow_fixture *fixture);
const struct json *fixture_node(struct workflow_fixture *fixture, const char *name);
struct json *fixture_find_pod(struct workflow_fixture *fixture, const char *node);

#endif
