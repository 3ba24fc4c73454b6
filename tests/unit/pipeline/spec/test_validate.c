/* Tests the messages for workflows that are invalid or cannot run here. */
#include "workflow_fixture.h"

#include "pipeline/spec/workflow.h"

#include "base/buf.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define BOX "container: {image: i, command: [c]}"

static const struct {
    const char *spec;
    const char *message; /* NULL: valid */
} ROWS[] = {
    {"{entrypoint: a, templates: [{name: a, " BOX "}]}", NULL},
    {"{templates: [{name: a, " BOX "}]}", "spec.entrypoint: must name a template"},
    {"{entrypoint: mian, templates: [{name: main, " BOX "}]}",
     "spec.entrypoint: no template 'mian'; did you mean 'main'?"},
    {"{entrypoint: a}", "spec.templates: must have at least one template"},
    {"{entrypoint: a, templates: [{name: a}]}",
     "spec.templates[0]: template 'a' must have one of container, script, resource, dag, steps"},
    {"{entrypoint: a, templates: [{name: a, " BOX "}, {name: a, " BOX "}]}",
     "spec.templates[1].name: 'a' is the name of another template"},
    {"{entrypoint: a, templates: [{name: a, suspend: {}}]}",
     "spec.templates[0].suspend: is not supported: set spec.suspend to hold the whole workflow"},
    {"{entrypoint: a, templates: [{name: a, container: {image: i}, outputs: {parameters: [{name: "
     "x, "
     "valueFrom: {path: /x}}]}}]}",
     "spec.templates[0].container.command: must be given if outputs come from files, because the "
     "command of the image is not known"},
    {"{entrypoint: a, templates: [{name: a, inputs: {artifacts: [{name: data, path: /d}]}, " BOX
     "}]}",
     "spec.templates[0].inputs.artifacts[0]: artifact 'data' is not supported: there is no "
     "artifact "
     "store; pass files on a volume, or small values as parameters"},
    {"{entrypoint: a, templates: [{name: a, outputs: {artifacts: [{name: data, path: /d}]}, " BOX
     "}]}",
     NULL},
    {"{entrypoint: a, templates: [{name: a, dag: {tasks: [{name: load, template: b}, {name: z, "
     "template: "
     "b, dependencies: [laod]}]}}, {name: b, " BOX "}]}",
     "spec.templates[0].dag.tasks[1].dependencies[0]: no task 'laod'; did you mean 'load'?"},
    {"{entrypoint: a, templates: [{name: a, dag: {tasks: [{name: x, template: b, dependencies: "
     "[z]}, "
     "{name: z, template: b, depends: x.Succeeded}]}}, {name: b, " BOX "}]}",
     "spec.templates[0].dag.tasks[0]: task 'x' depends on itself through its dependencies"},
    {"{entrypoint: a, templates: [{name: a, dag: {tasks: [{name: x, template: b}, {name: z, "
     "template: "
     "b, depends: 'x.Failed'}]}}, {name: b, " BOX "}]}",
     "spec.templates[0].dag.tasks[1].depends: 'x.Failed' is not supported: write task names "
     "joined by '&&', each with or without '.Succeeded'"},
    {"{entrypoint: a, templates: [{name: a, dag: {tasks: [{name: x, template: c}]}}, {name: b, " BOX
     "}]}",
     "spec.templates[0].dag.tasks[0].template: no template 'c'"},
    {"{entrypoint: a, templates: [{name: a, dag: {tasks: [{name: x, template: b}]}}, {name: b, "
     "inputs: {parameters: [{name: p}]}, " BOX "}]}",
     "spec.templates[0].dag.tasks[0].arguments.parameters: template 'b' needs input parameter 'p', "
     "which is not given"},
    {"{entrypoint: a, templates: [{name: a, container: {image: i, args: "
     "['{{inputs.parameters.p}}']}}]}",
     "spec.templates[0].container: '{{inputs.parameters.p}}': no input parameter 'p'"},
    {"{entrypoint: a, templates: [{name: a, container: {image: i, args: ['{{workflow.nmae}}']}}]}",
     "spec.templates[0].container: '{{workflow.nmae}}': there is no such value; did you mean "
     "'workflow.name'?"},
    {"{entrypoint: a, templates: [{name: a, dag: {tasks: [{name: x, template: b}, {name: z, "
     "template: "
     "b, when: '{{tasks.x.outputs.parameters.o}} == 1'}]}}, {name: b, " BOX "}]}",
     "spec.templates[0].dag.tasks[1]: '{{tasks.x.outputs.parameters.o}}': no task 'x' always "
     "ends before this reference is used; if it exists, add it to dependencies"},
    {"{entrypoint: a, templates: [{name: a, dag: {tasks: [{name: x, template: b}, {name: z, "
     "template: "
     "b, dependencies: [x], when: '{{tasks.x.outputs.parameters.o}} == 1'}]}}, {name: b, " BOX
     "}]}",
     "spec.templates[0].dag.tasks[1]: '{{tasks.x.outputs.parameters.o}}': no output parameter 'o'"},
    {"{entrypoint: a, templates: [{name: a, steps: [[{name: x, template: b}, {name: z, template: "
     "b, "
     "when: '{{steps.x.status}} == Failed'}]]}, {name: b, " BOX "}]}",
     "spec.templates[0].steps[0][1]: '{{steps.x.status}}': no step 'x' always ends before "
     "this reference is used"},
    {"{entrypoint: a, templates: [{name: a, retryStrategy: {limit: x}, " BOX "}]}",
     "spec.templates[0].retryStrategy.limit: must be a number, 0 or greater"},
    {"{entrypoint: a, templates: [{name: a, retryStrategy: {limit: '3', retryPolicy: Always, "
     "backoff: "
     "{duration: '5', maxDuration: 1m}}, " BOX "}]}",
     NULL},
    {"{entrypoint: a, templates: [{name: a, retryStrategy: {retryPolicy: Sometimes}, " BOX "}]}",
     "spec.templates[0].retryStrategy.retryPolicy: must be Always, OnFailure, OnError or "
     "OnTransientError, is \"Sometimes\""},
    {"{entrypoint: a, templates: [{name: a, resource: {action: make, manifest: x}}]}",
     "spec.templates[0].resource.action: must be create, apply, patch, get or delete, is \"make\""},
    {"{entrypoint: a, templates: [{name: a, container: {image: i, args: ['{{=1}}']}}]}",
     "spec.templates[0].container: '{{=1}}' is an expression, which is not supported: use plain "
     "references"},
    {"{entrypoint: a, arguments: {parameters: [{name: p}]}, templates: [{name: a, " BOX "}]}",
     "spec.arguments.parameters[0]: 'p' has no value"},
    {"{entrypoint: a, templates: [{name: a, container: {image: i, args: ['{{retries}}']}}]}",
     "spec.templates[0].container: '{{retries}}': the template has no retryStrategy"},
};

static void test_spec_messages(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        struct err err = ERR_INIT;
        int result = workflow_validate(fixture_workflow(arena, ROWS[i].spec), &err);

        if (!ROWS[i].message && result < 0)
            fail_msg("%s: %s", ROWS[i].spec, err.message);
        if (ROWS[i].message) {
            if (result == 0)
                fail_msg("%s is not refused", ROWS[i].spec);
            assert_string_equal(err.message, ROWS[i].message);
        }
    }
}

/* A task that is reachable in many ways is checked once, not once per way. */
static void test_task_with_many_paths_is_checked_once(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    char *spec = arena_strdup(arena, "{entrypoint: a, templates: [{name: b, " BOX
                                     "}, {name: a, dag: {tasks: [{name: t0, template: b}");
    struct err err = ERR_INIT;

    for (int i = 1; i < 60; i++)
        spec =
            arena_printf(arena,
                         "%s, {name: l%d, template: b, dependencies: [t%d]}, {name: r%d, template: "
                         "b, dependencies: [t%d]}, {name: t%d, template: b, dependencies: [l%d, "
                         "r%d], when: '{{tasks.t0.status}} == {{tasks.none.status}}'}",
                         spec, i, i - 1, i, i - 1, i, i, i);
    spec = arena_printf(arena, "%s]}}]}", spec);
    assert_true(workflow_validate(fixture_workflow(arena, spec), &err) < 0);
    assert_non_null(strstr(err.message, "no task 'none' always ends before this reference"));
}

/* Checks that the spec is valid, or rejected with `message`. `many` is repeated, and each # in it
 * is the number from 1. Quadratic work would exceed the time limit of the test. */
static void assert_large_spec(const char *before, const char *many, int count, const char *after,
                              const char *message)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    _cleanup_buf_ struct buf spec;
    struct err err = ERR_INIT;

    buf_init(&spec, 16 << 20);
    buf_append_str(&spec, before);
    for (int i = 1; i <= count; i++) {
        for (const char *c = many; *c; c++) {
            if (*c == '#')
                buf_printf(&spec, "%d", i);
            else if (*c == '@') /* the previous number */
                buf_printf(&spec, "%d", i - 1);
            else
                buf_append_char(&spec, *c);
        }
    }
    buf_append_str(&spec, after);
    int result = workflow_validate(fixture_workflow(arena, spec.data), &err);
    assert_string_equal(result < 0 ? err.message : "", message);
}

static void test_large_specs_are_validated_in_time(void **state)
{
#define TEN(text) text text text text text text text text text text
#define TAKER     "{name: b, inputs: {parameters: [{name: p, default: x}]}, " BOX "}"
#define CHAIN                                                                                      \
    ", {name: t#, template: b, dependencies: [t@], arguments: {parameters: [{name: p, value: "     \
    "'" TEN("{{tasks.t0.status}}") "'}]}}"
    assert_large_spec("{entrypoint: a, templates: [" TAKER
                      ", {name: a, dag: {tasks: [{name: t0, template: b}",
                      CHAIN, 999, "]}}]}", "");
    assert_large_spec(
        "{entrypoint: a, templates: [" TAKER
        ", {name: a, dag: {tasks: [{name: t0, template: b, arguments: {parameters: [{name: "
        "p, value: '{{tasks.t999.status}}'}]}}",
        CHAIN, 999, "]}}]}",
        "spec.templates[1].dag.tasks[0]: '{{tasks.t999.status}}': no task 't999' always "
        "ends before this reference is used; if it exists, add it to dependencies");
    assert_large_spec("{entrypoint: a, templates: [" TAKER
                      ", {name: a, steps: [[{name: s0, template: b}]",
                      ", [{name: s#, template: b}]", 20000, "]}]}",
                      "spec.templates[1].steps: must have at most 1000 steps");
    assert_large_spec("{entrypoint: a, templates: [" TAKER
                      ", {name: a, steps: [[{name: s7, template: b}]",
                      ", [{name: s#, template: b}]", 900, "]}]}",
                      "spec.templates[1].steps[0][0].name: 's7' is the name of another step");
    assert_large_spec("{entrypoint: a, arguments: {parameters: [{name: p0, value: x}",
                      ", {name: p#, value: '#'}", 10000,
                      "]}, templates: [{name: a, container: {image: i, command: ["
                      "'{{workflow.parameters.p10000}}', '{{workflow.parameters.q}}']}}]}",
                      "spec.templates[0].container: '{{workflow.parameters.q}}': no parameter 'q'");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spec_messages),
        cmocka_unit_test(test_task_with_many_paths_is_checked_once),
        cmocka_unit_test(test_large_specs_are_validated_in_time)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
