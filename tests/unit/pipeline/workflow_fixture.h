/* One workflow in a test: written as YAML, reconciled, its pods moved by hand, and read back as
 * short texts, so that a rule is a row of a table. */
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
    int64_t now_ms; /* 2026-11-15T02:00:00Z at first */
    struct workflow_plan plan;
    size_t created; /* pods so far */
};

/* A Workflow named "wf" whose spec is that YAML. */
struct json *fixture_workflow(struct arena *arena, const char *spec);

void fixture_init(struct workflow_fixture *fixture, const char *spec);
void fixture_release(struct workflow_fixture *fixture);

/* Reconcile, write down the status and do what the plan says, until nothing changes: pods that are
 * made wait, resources are answered with the object that was sent. */
void fixture_settle(struct workflow_fixture *fixture);
/* The pod of the node ends: phase "Running", "Succeeded" or "Failed"; the message is what its main
 * container left, or NULL. Then settle. */
void fixture_pod(struct workflow_fixture *fixture, const char *node, const char *phase,
                 int exit_code, const char *message);
/* The pod vanishes as it is. Then settle. */
void fixture_vanish(struct workflow_fixture *fixture, const char *node);

/* "a=Succeeded b(0)=Running": the nodes below "wf.", by name; "" the root's. */
char *fixture_nodes(struct workflow_fixture *fixture);
const char *fixture_phase(struct workflow_fixture *fixture);
const struct json *fixture_node(struct workflow_fixture *fixture, const char *name);
struct json *fixture_find_pod(struct workflow_fixture *fixture, const char *node);

#endif
