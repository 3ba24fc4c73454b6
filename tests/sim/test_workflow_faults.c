/* Tests whole lives of workflows in virtual time, with faults drawn from a seed: calls are refused,
 * answers are lost, writes conflict, watches end, programs fail, pods are killed, and the
 * controller restarts. The rules: each workflow ends once, with the result of its steps, and fails
 * only if a program failed or was killed. No step begins before the steps that it needs have
 * succeeded, or twice in one attempt. The next step gets the outputs of the step before.
 * TRAINYARD_SIM_SEEDS is the number of seeds; TRAINYARD_SIM_SEED runs a single seed. */
#include "sim_cluster.h"
#include "sim_seeds.h"

#include "base/json/yaml.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "fault_transport.h"
#include "kube/client/informer.h"
#include "kube/object.h"
#include "loop/sim/sim_loop.h"
#include "pipeline/controller/controller.h"
#include "pipeline/reconcile/node.h"
#include "pipeline/spec/workflow.h"
#include "pipeline/spec/workflow_kind.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    SEEDS_DEFAULT = 12,
    WORKFLOWS = 3,
    TASKS_MAX = 6,
    SLICE_MS = 10 * 1000,
    TROUBLE_MS = 60 * 1000, /* pods are killed and the controller restarts only until then */
    PATIENCE_MS = 3600 * 1000,
    SETTLE_MS = 60 * 1000,
};

struct run {
    struct sim_cluster cluster;
    uint64_t seed;
    struct http_transport *faulty;
    struct workflow_controller *controller;
    struct loop_timer restart_timer, pod_fault_timer;
    bool kills;
    struct kube_informer *workflows, *pods; /* the auditor's informers */
    struct map ends;                        /* workflow name: its last phase */
    struct map begun;                       /* node names whose pod was created */
    unsigned needs[WORKFLOWS][TASKS_MAX];   /* bit mask of the tasks that each task depends on */
};

#define check(run, condition, ...)                                                                 \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            print_error("seed %llu: ", (unsigned long long)(run)->seed);                           \
            fail_msg(__VA_ARGS__);                                                                 \
        }                                                                                          \
    } while (0)

/* ---- The auditor ----------------------------------------------------------------------------- */

static void audit_workflow(void *context, struct kube_object *old, struct kube_object *new_)
{
    struct run *run = context;
    const struct json *status = new_ ? json_get(new_->json, "status") : NULL;
    const char *phase = json_get_string(status, "phase", ""), *before;

    if (!new_)
        return;
    before = map_get(&run->ends, new_->name);
    check(run, !before || str_eq(before, phase), "%s was %s and is %s", new_->name, before, phase);
    if (workflow_node_is_final(status))
        map_put(&run->ends, new_->name, (void *)workflow_phase_name(workflow_node_phase(status)));
}

static const struct json *node_of(const struct json *workflow, const char *name)
{
    JSON_EACH (node, json_at(workflow, "status", "nodes", NULL)) {
        if (str_eq(workflow_node_name(node), name))
            return node;
    }
    return NULL;
}

/* Splits a node name such as "wf-0.t3(1)" into the numbers of its workflow and its task. */
static void parse_node_name(struct run *run, const char *node_name, int *ret_workflow,
                            int *ret_task)
{
    check(run, sscanf(node_name, "wf-%d.t%d", ret_workflow, ret_task) == 2, "a pod of no task: %s",
          node_name);
}

static bool has_argument(const struct json *pod, const char *text)
{
    JSON_EACH (container, json_at(pod, "spec", "containers", NULL)) {
        JSON_EACH (argument, json_get(container, "args")) {
            if (str_eq(json_text(argument), text))
                return true;
        }
    }
    return false;
}

static void audit_pod(void *context, struct kube_object *old, struct kube_object *new_)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct run *run = context;
    const char *name =
        new_ ? kube_meta_annotation(new_->json, WORKFLOW_NODE_NAME_ANNOTATION) : NULL;
    struct kube_object *workflow;
    int number = 0, task = 0;

    if (!new_ || old)
        return;
    check(run, name, "pod %s has no node", new_->name);
    parse_node_name(run, name, &number, &task);
    check(run, run->kills || !map_get(&run->begun, name), "%s was begun twice", name);
    map_put(&run->begun, name, run);
    workflow =
        kube_informer_get(run->workflows, "default", kube_meta_label(new_->json, WORKFLOW_LABEL));
    if (!workflow)
        return;
    for (int other = 0; other < TASKS_MAX; other++) {
        if (!(run->needs[number][task] & (1U << other)))
            continue;
        const struct json *needed =
            node_of(workflow->json, arena_printf(arena, "wf-%d.t%d", number, other));
        const char *output = workflow_node_output(needed, "out");
        check(run, workflow_node_phase(needed) == WORKFLOW_SUCCEEDED && output,
              "%s was begun before t%d had succeeded", name, other);
        check(run, has_argument(new_->json, output), "%s did not get '%s'", name, output);
    }
}

static bool has_failed_pod(struct run *run, const char *workflow)
{
    struct kube_object *pod;

    for (size_t i = 0; (pod = kube_informer_next(run->pods, NULL, &i));)
        if (str_eq(kube_meta_label(pod->json, WORKFLOW_LABEL), workflow) &&
            str_eq(json_get_string(json_get(pod->json, "status"), "phase", ""), "Failed"))
            return true;
    return false;
}

static void audit_ends(struct run *run)
{
    struct kube_object *workflow, *pod;

    for (size_t i = 0; (workflow = kube_informer_next(run->workflows, NULL, &i));) {
        const char *phase = map_get(&run->ends, workflow->name);
        bool all = true;

        check(run, phase, "%s has not ended: %s", workflow->name,
              json_to_string(workflow->arena, json_get(workflow->json, "status")));
        JSON_EACH (node, json_at(workflow->json, "status", "nodes", NULL)) {
            check(run, workflow_node_is_final(node), "%s has not ended", workflow_node_name(node));
            /* A single attempt may fail, but the node that it retries must not. */
            all = all && (strchr(workflow_node_name(node), '(') ||
                          workflow_node_phase(node) == WORKFLOW_SUCCEEDED);
        }
        check(run, all == str_eq(phase, "Succeeded"), "%s is %s", workflow->name, phase);
        /* A workflow must not fail because of faults of the API, only because a program failed. */
        check(run, all || run->kills || has_failed_pod(run, workflow->name),
              "%s is %s, but none of its pods failed", workflow->name, phase);
    }
    check(run, run->ends.count == WORKFLOWS, "%zu workflows have ended", run->ends.count);
    for (size_t i = 0; (pod = kube_informer_next(run->pods, NULL, &i));) {
        const char *phase = json_get_string(json_get(pod->json, "status"), "phase", "");

        check(run, str_eq(phase, "Succeeded") || str_eq(phase, "Failed"), "pod %s is left %s",
              pod->name, phase);
    }
}

/* ---- Faults ---------------------------------------------------------------------------------- */

static bool faults_are_over(struct run *run)
{
    return loop_now_ms(run->cluster.loop) > TROUBLE_MS;
}

static void on_restart(struct loop_timer *timer)
{
    struct run *run = CONTAINER_OF(timer, struct run, restart_timer);

    if (run->controller) {
        run->controller = workflow_controller_free(run->controller);
        loop_timer_start(timer, (int64_t)rand_below(run->cluster.rand, 2000));
        return;
    }
    run->controller = workflow_controller_new(run->cluster.loop, run->faulty, NULL);
    if (!faults_are_over(run))
        loop_timer_start(timer, (int64_t)rand_below(run->cluster.rand, 3000));
}

static void on_pod_fault(struct loop_timer *timer)
{
    struct run *run = CONTAINER_OF(timer, struct run, pod_fault_timer);

    sim_node_disturb_one_pod(run->cluster.node);
    if (!faults_are_over(run))
        loop_timer_start(timer, 100 + (int64_t)rand_below(run->cluster.rand, 5000));
}

/* ---- The workflows --------------------------------------------------------------------------- */

/* Draws a task that outputs its pod's name and takes the names of the tasks that it depends on. */
static void draw_task(struct run *run, struct buf *yaml, int number, int task)
{
    bool first = true;

    buf_printf(yaml, "      - name: t%d\n        template: t%d\n        dependencies: [", task,
               task);
    for (int other = 0; other < task; other++) {
        if (rand_below(run->cluster.rand, 3) > 0)
            continue;
        run->needs[number][task] |= 1U << other;
        buf_printf(yaml, "%st%d", first ? "" : ", ", other);
        first = false;
    }
    buf_append_str(yaml, "]\n        arguments:\n          parameters:\n");
    for (int other = 0; other < task; other++)
        if (run->needs[number][task] & (1U << other))
            buf_printf(
                yaml, "          - {name: from%d, value: '{{tasks.t%d.outputs.parameters.out}}'}\n",
                other, other);
}

static void draw_template(struct run *run, struct buf *yaml, int number, int task)
{
    static const char *const policies[] = {"Always", "OnFailure", "OnError"};
    uint64_t limit = rand_below(run->cluster.rand, 4);

    buf_printf(yaml, "  - name: t%d\n    inputs:\n      parameters:\n", task);
    for (int other = 0; other < task; other++)
        if (run->needs[number][task] & (1U << other))
            buf_printf(yaml, "      - {name: from%d}\n", other);
    buf_append_str(yaml,
                   "    container:\n      image: simulated\n      command: [c]\n      args:\n");
    for (int other = 0; other < task; other++)
        if (run->needs[number][task] & (1U << other))
            buf_printf(yaml, "      - '{{inputs.parameters.from%d}}'\n", other);
    buf_append_str(yaml, "    outputs: {parameters: [{name: out, valueFrom: {path: /out}}]}\n");
    if (limit > 0)
        buf_printf(yaml, "    retryStrategy: {limit: %d, retryPolicy: %s}\n", (int)limit,
                   policies[rand_below(run->cluster.rand, ARRAY_SIZE(policies))]);
}

static void draw_workflow(struct run *run, struct buf *yaml, int number)
{
    int tasks = 1 + (int)rand_below(run->cluster.rand, TASKS_MAX);

    buf_printf(yaml,
               "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {name: wf-%d}\nspec:\n"
               "  entrypoint: main\n",
               number);
    if (rand_below(run->cluster.rand, 3) == 0)
        buf_printf(yaml, "  parallelism: %d\n", 1 + (int)rand_below(run->cluster.rand, 3));
    buf_printf(yaml, "  templates:\n  - name: main\n    dag:\n      failFast: %s\n      tasks:\n",
               rand_below(run->cluster.rand, 2) ? "true" : "false");
    for (int task = 0; task < tasks; task++)
        draw_task(run, yaml, number, task);
    for (int task = 0; task < tasks; task++)
        draw_template(run, yaml, number, task);
}

static void on_submitted(void *context, struct json *object, const struct err *err)
{
    struct run *run = context;

    check(run, !err, "cannot create a workflow: %s", err->message);
}

static void submit(struct run *run, int number)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    _cleanup_buf_ struct buf yaml;
    struct json *documents = NULL;
    struct err err = ERR_INIT;

    buf_init(&yaml, 64 * 1024);
    draw_workflow(run, &yaml, number);
    if (yaml_parse(arena, &(struct source){"workflow", yaml.data, yaml.size, false}, NULL,
                   &documents, &err) < 0)
        fail_msg("%s\n%s", err.message, yaml.data);
    kube_create(run->cluster.client, &WORKFLOWS_RESOURCE, "default", json_first(documents),
                on_submitted, run);
}

/* ---- A run ----------------------------------------------------------------------------------- */

static void run_init(struct run *run, uint64_t seed)
{
    *run = (struct run){.seed = seed};
    sim_cluster_init(&run->cluster, seed);
    sim_node_set_failures(run->cluster.node, (unsigned)rand_below(run->cluster.rand, 40));
    struct fault_rates rates = (struct fault_rates){
        .refuse = (unsigned)rand_below(run->cluster.rand, 100),
        .lose = (unsigned)rand_below(run->cluster.rand, 100),
        .conflict = (unsigned)rand_below(run->cluster.rand, 200),
        .cut = (unsigned)rand_below(run->cluster.rand, 1000),
    };
    map_init(&run->ends);
    map_init(&run->begun);
    run->faulty =
        fault_transport_new(run->cluster.loop, run->cluster.transport, run->cluster.rand, &rates);
    run->workflows = kube_informer_new(run->cluster.client, &WORKFLOWS_RESOURCE, NULL, NULL,
                                       audit_workflow, run);
    run->pods =
        kube_informer_new(run->cluster.client, &KUBE_PODS, NULL, WORKFLOW_LABEL, audit_pod, run);
    run->controller = workflow_controller_new(run->cluster.loop, run->faulty, NULL);
    loop_timer_init(run->cluster.loop, &run->restart_timer, on_restart);
    loop_timer_init(run->cluster.loop, &run->pod_fault_timer, on_pod_fault);
    if (rand_below(run->cluster.rand, 4) > 0)
        loop_timer_start(&run->restart_timer, 100);
    run->kills = rand_below(run->cluster.rand, 3) == 0;
    if (run->kills)
        loop_timer_start(&run->pod_fault_timer, 100);
}

static void run_release(struct run *run)
{
    loop_timer_stop(&run->restart_timer);
    loop_timer_stop(&run->pod_fault_timer);
    workflow_controller_free(run->controller);
    http_transport_free(run->faulty);
    kube_informer_free(run->workflows);
    kube_informer_free(run->pods);
    map_release(&run->ends);
    map_release(&run->begun);
    sim_cluster_release(&run->cluster);
}

static void run_seed(uint64_t seed)
{
    struct run run;

    run_init(&run, seed);
    for (int i = 0; i < WORKFLOWS; i++)
        submit(&run, i);
    for (int64_t spent = 0; spent < PATIENCE_MS; spent += SLICE_MS) {
        sim_loop_run_for(run.cluster.loop, SLICE_MS);
        if (run.ends.count == WORKFLOWS && faults_are_over(&run) && run.controller)
            break;
    }
    sim_loop_run_for(run.cluster.loop, SETTLE_MS);
    audit_ends(&run);
    run_release(&run);
}

static void test_workflows_end_under_faults(void **state)
{
    sim_seeds_run(sim_seeds_requested(SEEDS_DEFAULT), run_seed);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_workflows_end_under_faults)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
