/* Tests lives of workflows, pod by pod: when steps begin, what a failure stops, what is retried,
 * and the outputs. */
#include "workflow_fixture.h"

#include "pipeline/reconcile/node.h"
#include "pipeline/spec/workflow.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/condition.h"
#include "kube/object.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define BOX "container: {image: i, command: [c]}"

#define DIAMOND                                                                                    \
    "{entrypoint: main, templates: [{name: b, " BOX "}, {name: main, dag: {tasks: ["               \
    "{name: d, template: b, dependencies: [b, c]}, {name: b, template: b, dependencies: [a]}, "    \
    "{name: c, template: b, dependencies: [a]}, {name: a, template: b}]}}]}"

static void expect(struct workflow_fixture *fixture, const char *phase, const char *nodes)
{
    assert_string_equal(fixture_nodes(fixture), nodes);
    assert_string_equal(fixture_phase(fixture), phase);
}

static const char *message_of(struct workflow_fixture *fixture, const char *node)
{
    return json_get_string(fixture_node(fixture, node), "message", "");
}

static void test_diamond_dag_runs_in_order(void **state)
{
    struct workflow_fixture f;

    fixture_init(&f, DIAMOND);
    expect(&f, "Running", "a=Pending");
    fixture_pod(&f, "a", "Running", 0, NULL);
    expect(&f, "Running", "a=Running");
    fixture_pod(&f, "a", "Succeeded", 0, NULL);
    expect(&f, "Running", "a=Succeeded b=Pending c=Pending");
    fixture_pod(&f, "c", "Succeeded", 0, NULL);
    expect(&f, "Running", "a=Succeeded b=Pending c=Succeeded");
    fixture_pod(&f, "b", "Succeeded", 0, NULL);
    fixture_pod(&f, "d", "Succeeded", 0, NULL);
    expect(&f, "Succeeded", "a=Succeeded b=Succeeded c=Succeeded d=Succeeded");
    assert_string_equal(json_get_string(json_get(f.workflow, "status"), "progress", ""), "4/4");
    assert_true(kube_condition_is_true(f.workflow, "Completed"));
    assert_int_equal(f.created, 4);
    assert_int_equal(json_count(json_get(fixture_node(&f, "a"), "children")), 2);
    for (size_t i = 0; i < f.pod_count; i++)
        assert_string_equal(kube_meta_label(f.pods[i], WORKFLOW_COMPLETED_LABEL), "true");
    fixture_release(&f);
}

static void test_failed_task_fails_the_dag_after_running_tasks(void **state)
{
    struct workflow_fixture f;

    fixture_init(&f, DIAMOND);
    fixture_pod(&f, "a", "Succeeded", 0, NULL);
    fixture_pod(&f, "c", "Running", 0, NULL);
    fixture_pod(&f, "b", "Failed", 3, "no more disk");
    expect(&f, "Running", "a=Succeeded b=Failed c=Running");
    fixture_pod(&f, "c", "Succeeded", 0, NULL);
    expect(&f, "Failed", "a=Succeeded b=Failed c=Succeeded d=Omitted");
    assert_string_equal(message_of(&f, "b"), "Error (exit code 3): no more disk");
    assert_string_equal(message_of(&f, ""),
                        "child 'wf.b' failed: Error (exit code 3): no more disk");
    fixture_release(&f);
}

/* The cause of a nested failure is in the message of the workflow, which users see first. */
static void test_nested_failure_is_in_the_workflow_message(void **state)
{
    struct workflow_fixture f;

    fixture_init(&f, "{entrypoint: main, templates: [{name: b, " BOX
                     "}, {name: inner, dag: {tasks: [{name: z, template: b}]}}, {name: main, dag: "
                     "{tasks: [{name: a, template: inner}]}}]}");
    fixture_pod(&f, "a.z", "Failed", 3, "no more disk");
    assert_string_equal(message_of(&f, ""),
                        "child 'wf.a.z' failed: Error (exit code 3): no more disk");
    fixture_release(&f);
    fixture_init(&f, "{entrypoint: main, templates: [{name: main, dag: {tasks: [{name: a, "
                     "template: main}]}}]}");
    assert_string_equal(fixture_phase(&f), "Error");
    assert_non_null(strstr(message_of(&f, ""), "failed: template 'main' is nested in 64 others"));
    fixture_release(&f);
}

static void test_continue_on_failure(void **state)
{
    struct workflow_fixture f;

    fixture_init(&f, "{entrypoint: main, templates: [{name: b, " BOX
                     "}, {name: main, dag: {tasks: [{name: a, template: b, continueOn: {failed: "
                     "true}}, {name: z, template: b, depends: a}]}}]}");
    fixture_pod(&f, "a", "Failed", 1, NULL);
    expect(&f, "Running", "a=Failed z=Pending");
    fixture_pod(&f, "z", "Succeeded", 0, NULL);
    expect(&f, "Succeeded", "a=Failed z=Succeeded");
    fixture_release(&f);
}

#define RETRY(strategy)                                                                            \
    "{entrypoint: main, templates: [{name: b, retryStrategy: {" strategy "}, " BOX                 \
    "}, {name: main, dag: {tasks: [{name: a, template: b}]}}]}"

static void test_retries_until_one_succeeds(void **state)
{
    struct workflow_fixture f;

    fixture_init(&f, RETRY("limit: '2'"));
    expect(&f, "Running", "a(0)=Pending a=Running");
    fixture_pod(&f, "a(0)", "Failed", 1, NULL);
    expect(&f, "Running", "a(0)=Failed a(1)=Pending a=Running");
    fixture_pod(&f, "a(1)", "Succeeded", 0, NULL);
    expect(&f, "Succeeded", "a(0)=Failed a(1)=Succeeded a=Succeeded");
    fixture_release(&f);
}

static void test_retries_are_limited(void **state)
{
    struct workflow_fixture f;

    fixture_init(&f, RETRY("limit: 1"));
    fixture_pod(&f, "a(0)", "Failed", 1, NULL);
    fixture_pod(&f, "a(1)", "Failed", 2, NULL);
    expect(&f, "Failed", "a(0)=Failed a(1)=Failed a=Failed");
    assert_string_equal(message_of(&f, "a"), "No more retries left: Error (exit code 2)");
    fixture_release(&f);
}

/* A failure of a program and a lost pod are handled by different policies. */
static void test_retry_policies(void **state)
{
    static const struct {
        const char *policy;
        bool on_failure, on_loss;
    } rows[] = {{"OnFailure", true, false}, {"OnError", false, true}, {"Always", true, true}};

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        const char *spec = arena_printf(arena, RETRY("limit: 3, retryPolicy: %s"), rows[i].policy);
        struct workflow_fixture f;

        fixture_init(&f, spec);
        fixture_pod(&f, "a(0)", "Failed", 1, NULL);
        assert_string_equal(fixture_phase(&f), rows[i].on_failure ? "Running" : "Failed");
        fixture_release(&f);
        fixture_init(&f, spec);
        fixture_pod(&f, "a(0)", "Running", 0, NULL);
        fixture_vanish(&f, "a(0)");
        assert_string_equal(fixture_phase(&f), rows[i].on_loss ? "Running" : "Error");
        fixture_release(&f);
    }
}

static void test_retries_back_off(void **state)
{
    struct workflow_fixture f;

    fixture_init(&f, RETRY("limit: 5, backoff: {duration: 10s, factor: 2, maxDuration: 1m}"));
    fixture_pod(&f, "a(0)", "Failed", 1, NULL);
    expect(&f, "Running", "a(0)=Failed a=Running");
    assert_int_equal(f.plan.requeue_ms, 10 * 1000);
    assert_string_equal(message_of(&f, "a"), "Backoff for 10 seconds");
    f.now_ms += 10 * 1000;
    fixture_settle(&f);
    fixture_pod(&f, "a(1)", "Failed", 1, NULL);
    assert_int_equal(f.plan.requeue_ms, 20 * 1000);
    f.now_ms += 20 * 1000;
    fixture_settle(&f);
    fixture_pod(&f, "a(2)", "Failed", 1, NULL); /* 40 seconds more would exceed the limit */
    expect(&f, "Failed", "a(0)=Failed a(1)=Failed a(2)=Failed a=Failed");
    fixture_release(&f);
}

#define PRODUCER                                                                                   \
    "{name: p, container: {image: i, command: [make], args: [it]}, outputs: {parameters: [{name: " \
    "x, valueFrom: {path: /tmp/x}}, {name: z, valueFrom: {path: /tmp/z, default: none}}]}}"
#define CONSUMER                                                                                   \
    "{name: c, inputs: {parameters: [{name: v}, {name: w, default: 7}]}, container: {image: i, "   \
    "command: [use], args: ['{{inputs.parameters.v}}-{{inputs.parameters.w}}-{{workflow.name}}-"   \
    "{{pod.name}}']}}"
#define PIPE                                                                                       \
    "{entrypoint: main, templates: [" PRODUCER ", " CONSUMER                                       \
    ", {name: main, dag: {tasks: [{name: "                                                         \
    "p, template: p}, {name: c, template: c, dependencies: [p], arguments: {parameters: [{name: "  \
    "v, value: '{{tasks.p.outputs.parameters.x}}/{{tasks.p.outputs.parameters.z}}'}]}}]}}]}"

static void test_outputs_become_inputs_of_later_tasks(void **state)
{
    struct workflow_fixture f;

    fixture_init(&f, PIPE);
    struct json *pod = fixture_find_pod(&f, "p");
    assert_string_equal(
        json_to_string(f.arena,
                       json_get(json_first(json_at(pod, "spec", "containers", NULL)), "command")),
        "[\"/trainyard/step\",\"output\",\"/dev/termination-log\",\"x=/tmp/x\",\"z=/tmp/z\",\"--\","
        "\"make\"]");
    assert_int_equal(json_count(json_at(pod, "spec", "initContainers", NULL)), 1);
    fixture_pod(&f, "p", "Succeeded", 0, "{\"parameters\":{\"x\":\"42\"}}");
    pod = fixture_find_pod(&f, "c");
    assert_string_equal(
        json_to_string(f.arena,
                       json_get(json_first(json_at(pod, "spec", "containers", NULL)), "args")),
        arena_printf(f.arena, "[\"42/none-7-wf-%s\"]", kube_meta_name(pod)));
    assert_null(json_at(pod, "spec", "initContainers", NULL));
    fixture_release(&f);
}

static void test_missing_outputs_are_reported(void **state)
{
    static const struct {
        const char *left, *said;
    } rows[] = {
        {"{\"parameters\":{}}", "output parameter 'x': the step did not write the file '/tmp/x'"},
        {"{\"error\":\"too large\"}", "too large"},
        {"hello", "cannot read the outputs: the container's termination message is not JSON; the "
                  "step must not write this message itself"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct workflow_fixture f;

        fixture_init(&f, PIPE);
        fixture_pod(&f, "p", "Succeeded", 0, rows[i].left);
        expect(&f, "Error", "c=Omitted p=Error");
        assert_string_equal(message_of(&f, "p"), rows[i].said);
        fixture_release(&f);
    }
}

static void test_steps_run_in_sequence(void **state)
{
    struct workflow_fixture f;

    fixture_init(&f,
                 "{entrypoint: main, templates: [{name: b, " BOX "}, " PRODUCER
                 ", {name: main, steps: [[{name: p, template: p}, {name: q, template: b}], "
                 "[{name: r, template: b, when: '{{steps.p.outputs.parameters.x}} > 3'}, {name: "
                 "s, template: b, when: '{{steps.p.outputs.parameters.x}} > 9'}]]}]}");
    expect(&f, "Running", "[0].p=Pending [0].q=Pending [0]=Running");
    fixture_pod(&f, "[0].p", "Succeeded", 0, "{\"parameters\":{\"x\":\"5\"}}");
    expect(&f, "Running", "[0].p=Succeeded [0].q=Pending [0]=Running");
    fixture_pod(&f, "[0].q", "Succeeded", 0, NULL);
    expect(&f, "Running",
           "[0].p=Succeeded [0].q=Succeeded [0]=Succeeded [1].r=Pending [1].s=Skipped [1]=Running");
    fixture_pod(&f, "[1].r", "Succeeded", 0, NULL);
    assert_string_equal(fixture_phase(&f), "Succeeded");
    fixture_release(&f);
}

static void test_empty_groups_of_steps_are_passed_over(void **state)
{
    struct workflow_fixture f;

    fixture_init(&f, "{entrypoint: main, templates: [{name: b, " BOX "}, {name: main, steps: [[], "
                     "[{name: p, template: b}], [], [{name: q, template: b}]]}]}");
    expect(&f, "Running", "[1].p=Pending [1]=Running");
    fixture_pod(&f, "[1].p", "Succeeded", 0, NULL);
    expect(&f, "Running", "[1].p=Succeeded [1]=Succeeded [3].q=Pending [3]=Running");
    fixture_pod(&f, "[3].q", "Succeeded", 0, NULL);
    assert_string_equal(fixture_phase(&f), "Succeeded");
    fixture_release(&f);
}

static void test_with_items_expands_a_task(void **state)
{
    struct workflow_fixture f;

    fixture_init(&f,
                 "{entrypoint: main, templates: [" PRODUCER ", " CONSUMER
                 ", {name: main, dag: {tasks: [{name: p, template: p, withItems: [1, {k: v}]}, "
                 "{name: c, template: c, dependencies: [p], withParam: "
                 "'{{tasks.p.outputs.parameters.x}}', arguments: {parameters: [{name: v, value: "
                 "'{{item}}'}]}}]}}]}");
    expect(&f, "Running", "p(0:1)=Pending p(1:{\"k\":\"v\"})=Pending p=Running");
    fixture_pod(&f, "p(0:1)", "Succeeded", 0, "{\"parameters\":{\"x\":\"a\"}}");
    fixture_pod(&f, "p(1:{\"k\":\"v\"})", "Succeeded", 0, "{\"parameters\":{\"x\":\"b\"}}");
    assert_string_equal(workflow_node_output(fixture_node(&f, "p"), "x"), "[\"a\",\"b\"]");
    assert_non_null(fixture_node(&f, "c(0:a)"));
    assert_non_null(fixture_node(&f, "c(1:b)"));
    fixture_release(&f);
}

static void test_parallelism_is_limited(void **state)
{
    struct workflow_fixture f;

    fixture_init(&f, "{entrypoint: main, parallelism: 2, templates: [{name: b, " BOX
                     "}, {name: main, dag: {tasks: [{name: p, template: b, withItems: [1, 2, 3]}]}}"
                     "]}");
    assert_int_equal(f.pod_count, 2);
    fixture_pod(&f, "p(0:1)", "Succeeded", 0, NULL);
    assert_int_equal(f.pod_count, 3);
    fixture_release(&f);
}

static void test_resource_template_waits_for_its_condition(void **state)
{
    struct workflow_fixture f;

    fixture_init(&f,
                 "{entrypoint: main, templates: [{name: r, resource: {action: create, "
                 "successCondition: status.phase == Bound, manifest: '{apiVersion: v1, kind: "
                 "PersistentVolumeClaim, metadata: {generateName: x-}}'}, outputs: {parameters: "
                 "[{name: id, valueFrom: {jsonPath: '{.metadata.name}'}}]}}, {name: main, dag: "
                 "{tasks: [{name: r, template: r}]}}]}");
    expect(&f, "Running", "r=Running");
    assert_string_equal(message_of(&f, "r"), "waiting for 'status.phase == Bound'");
    assert_int_equal(f.plan.action_count, 1);
    assert_int_equal(f.plan.actions[0].type, WORKFLOW_GET_RESOURCE);
    struct json *bound = json_clone(f.arena, f.plan.actions[0].object);
    json_set_string(f.arena, json_ensure_object(f.arena, bound, "status"), "phase", "Bound");
    f.results[f.result_count++] =
        (struct workflow_result){.node_id = f.plan.actions[0].node_id, .object = bound};
    fixture_settle(&f);
    expect(&f, "Succeeded", "r=Succeeded");
    assert_true(str_has_prefix(workflow_node_output(fixture_node(&f, "r"), "id"), "x-"));
    fixture_release(&f);
}

/* A user that may write a workflow must not write to other namespaces by it. */
static void test_resources_stay_in_the_namespace(void **state)
{
    static const char *const manifests[] = {
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: other}}",
        "{apiVersion: v1, kind: Namespace, metadata: {name: x}}",
        "{apiVersion: v1, kind: ../../x, metadata: {name: x}}",
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: ../x}}",
        "[]",
        "{",
    };

    for (size_t i = 0; i < ARRAY_SIZE(manifests); i++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        struct workflow_fixture f;

        fixture_init(&f, arena_printf(arena,
                                      "{entrypoint: main, templates: [{name: main, resource: "
                                      "{action: create, manifest: '%s'}}]}",
                                      manifests[i]));
        assert_string_equal(fixture_phase(&f), "Error");
        fixture_release(&f);
    }
}

static void test_deadline_fails_the_workflow(void **state)
{
    struct workflow_fixture f;

    fixture_init(&f, "{entrypoint: main, activeDeadlineSeconds: 60, templates: [{name: main, " BOX
                     "}]}");
    fixture_pod(&f, "", "Running", 0, NULL);
    assert_int_equal(f.plan.requeue_ms, 60 * 1000);
    f.now_ms += 60 * 1000;
    fixture_settle(&f);
    assert_string_equal(fixture_phase(&f), "Failed");
    assert_string_equal(json_get_string(json_get(f.workflow, "status"), "message", ""),
                        "Max duration limit exceeded");
    assert_int_equal(f.pod_count, 0);
    fixture_release(&f);

    fixture_init(&f, "{entrypoint: main, activeDeadlineSeconds: 9223372036854775807, templates: "
                     "[{name: main, " BOX "}]}");
    fixture_pod(&f, "", "Running", 0, NULL);
    assert_string_equal(fixture_phase(&f), "Running");
    fixture_release(&f);

    fixture_init(&f, "{entrypoint: main, templates: [{name: main, activeDeadlineSeconds: 5, " BOX
                     "}]}");
    fixture_pod(&f, "", "Running", 0, NULL);
    f.now_ms += 5 * 1000;
    fixture_settle(&f);
    assert_string_equal(fixture_phase(&f), "Failed");
    assert_int_equal(f.pod_count, 0);
    fixture_release(&f);
}

static void test_exit_handler_runs_after_a_failure(void **state)
{
    struct workflow_fixture f;

    fixture_init(&f, "{entrypoint: main, onExit: bye, templates: [{name: main, " BOX
                     "}, {name: bye, container: {image: i, args: ['{{workflow.status}}']}}]}");
    fixture_pod(&f, "", "Failed", 1, NULL);
    expect(&f, "Running", "onExit=Pending");
    assert_string_equal(
        json_to_string(f.arena, json_get(json_first(json_at(fixture_find_pod(&f, "onExit"), "spec",
                                                            "containers", NULL)),
                                         "args")),
        "[\"Failed\"]");
    fixture_pod(&f, "onExit", "Succeeded", 0, NULL);
    expect(&f, "Failed", "onExit=Succeeded");
    fixture_release(&f);
}

static void test_invalid_workflow_fails_without_pods(void **state)
{
    struct workflow_fixture f;

    fixture_init(&f, "{entrypoint: x, templates: [{name: main, " BOX "}]}");
    assert_string_equal(fixture_phase(&f), "Failed");
    assert_string_equal(json_get_string(json_get(f.workflow, "status"), "message", ""),
                        "invalid spec: spec.entrypoint: no template 'x'");
    assert_int_equal(f.created, 0);
    fixture_release(&f);
}

/* The hash is FNV-1a. Its value for "a" is 0xe40c292c. */
static void test_node_ids(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();

    assert_string_equal(workflow_node_id(arena, "wf", "wf"), "wf");
    assert_string_equal(workflow_node_id(arena, "wf", "a"), "wf-3826002220");
}

static void test_deleted_pod_is_an_error(void **state)
{
    struct workflow_fixture f;

    fixture_init(&f, DIAMOND);
    fixture_pod(&f, "a", "Running", 0, NULL);
    fixture_vanish(&f, "a");
    expect(&f, "Error", "a=Error b=Omitted c=Omitted d=Omitted");
    assert_string_equal(message_of(&f, "a"), "pod deleted");
    assert_int_equal(f.created, 1);
    fixture_release(&f);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_diamond_dag_runs_in_order),
        cmocka_unit_test(test_failed_task_fails_the_dag_after_running_tasks),
        cmocka_unit_test(test_nested_failure_is_in_the_workflow_message),
        cmocka_unit_test(test_continue_on_failure),
        cmocka_unit_test(test_retries_until_one_succeeds),
        cmocka_unit_test(test_retries_are_limited),
        cmocka_unit_test(test_retry_policies),
        cmocka_unit_test(test_retries_back_off),
        cmocka_unit_test(test_outputs_become_inputs_of_later_tasks),
        cmocka_unit_test(test_missing_outputs_are_reported),
        cmocka_unit_test(test_steps_run_in_sequence),
        cmocka_unit_test(test_empty_groups_of_steps_are_passed_over),
        cmocka_unit_test(test_with_items_expands_a_task),
        cmocka_unit_test(test_parallelism_is_limited),
        cmocka_unit_test(test_resource_template_waits_for_its_condition),
        cmocka_unit_test(test_resources_stay_in_the_namespace),
        cmocka_unit_test(test_deadline_fails_the_workflow),
        cmocka_unit_test(test_exit_handler_runs_after_a_failure),
        cmocka_unit_test(test_invalid_workflow_fails_without_pods),
        cmocka_unit_test(test_node_ids),
        cmocka_unit_test(test_deleted_pod_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
