/* Tests which numbers of jobs are counted, and that nothing is counted twice. */
#include "job_fixture.h"

#include "base/mem.h"
#include "base/str.h"
#include "operator/controller/training_metrics.h"
#include "read_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct world {
    struct arena *arena;
    struct prometheus *prometheus;
    struct training_metrics metrics;
};

static int setup(void **state)
{
    struct world *world = mem_zalloc(sizeof(*world));

    world->arena = arena_new();
    world->prometheus = prometheus_new();
    training_metrics_init(&world->metrics, world->prometheus, &TRAINING_PYTORCHJOB);
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;

    prometheus_free(world->prometheus);
    arena_free(world->arena);
    free(world);
    return 0;
}

__attribute__((format(printf, 2, 3))) static struct json *parse(struct world *world,
                                                                const char *format, ...)
{
    va_list args;

    va_start(args, format);
    const char *text = arena_vprintf(world->arena, format, args);
    va_end(args);
    return read_json(world->arena, text);
}

static struct json *parse_job(struct world *world, const char *conditions)
{
    return parse(world,
                 "{'metadata': {'namespace': 'team', 'name': 'j'},"
                 "'status': {'conditions': [%s]}}",
                 conditions);
}

static void assert_count(struct world *world, const char *what, int expected)
{
    _cleanup_buf_ struct buf text;
    char line[200];

    buf_init(&text, 1 << 16);
    prometheus_write(world->prometheus, &text);
    snprintf(line, sizeof(line),
             "training_operator_jobs_%s_total{job_namespace=\"team\",framework=\"pytorch\"} %d\n",
             what, expected);
    if (expected ? !strstr(text.data, line) : strstr(text.data, what) != NULL)
        fail_msg("%s is not %d in\n%s", what, expected, text.data);
}

#define CREATED   "{'type': 'Created', 'status': 'True'}"
#define RUNNING   "{'type': 'Running', 'status': 'True'}"
#define SUCCEEDED "{'type': 'Succeeded', 'status': 'True'}"
#define FAILED    "{'type': 'Failed', 'status': 'True'}"

static void write_status(struct world *world, const char *before, const char *after)
{
    training_metrics_count_status(&world->metrics, parse_job(world, before),
                                  json_get(parse_job(world, after), "status"));
}

static void each_status_change_is_counted_once(void **state)
{
    struct world *world = *state;

    write_status(world, "", CREATED);
    assert_count(world, "created", 1);
    write_status(world, CREATED, CREATED "," RUNNING);
    write_status(world, CREATED "," RUNNING, CREATED ",{'type': 'Failed', 'status': 'False'}");
    assert_count(world, "created", 1);
    assert_count(world, "failed", 0);
    write_status(world, CREATED "," RUNNING, CREATED "," SUCCEEDED);
    write_status(world, CREATED "," SUCCEEDED, CREATED "," SUCCEEDED);
    assert_count(world, "successful", 1);
    assert_count(world, "failed", 0);
}

static void rejected_job_counts_as_created_and_failed(void **state)
{
    struct world *world = *state;

    write_status(world, "", CREATED "," FAILED);
    assert_count(world, "created", 1);
    assert_count(world, "failed", 1);
}

static void write_restarts(struct world *world, const char *before, const char *after)
{
    struct json *object = parse_job(world, CREATED);
    struct json *annotations = json_object(world->arena);

    if (before)
        json_set_string(
            world->arena,
            json_ensure_object(world->arena, json_get(object, "metadata"), "annotations"),
            "trainyard.dev/restarts", before);
    json_set_string(world->arena, annotations, "trainyard.dev/restarts", after);
    training_metrics_count_restarts(&world->metrics, object, annotations);
}

static void simultaneous_replica_restarts_are_one_restart(void **state)
{
    struct world *world = *state;

    write_restarts(world, NULL, "{\"worker-0\":{\"count\":1},\"worker-1\":{\"count\":1}}");
    assert_count(world, "restarted", 1);
    /* A pod's name was added, but the count did not change. */
    write_restarts(world, "{\"worker-0\":{\"count\":1}}",
                   "{\"worker-0\":{\"count\":1,\"uid\":\"u\"}}");
    assert_count(world, "restarted", 1);
    write_restarts(world, "{\"worker-0\":{\"count\":1}}", "{\"worker-0\":{\"count\":2}}");
    assert_count(world, "restarted", 2);
    write_restarts(world, "what somebody wrote", "[1]");
    training_metrics_count_restarts(&world->metrics, parse_job(world, ""), NULL);
    assert_count(world, "restarted", 2);
}

static void deletions_and_passes_are_counted(void **state)
{
    struct world *world = *state;
    _cleanup_buf_ struct buf text;

    training_metrics_count_deleted(&world->metrics, "team");
    assert_count(world, "deleted", 1);
    training_metrics_count_pass(&world->metrics, false, 0.02);
    training_metrics_count_pass(&world->metrics, true, 0);
    buf_init(&text, 1 << 16);
    prometheus_write(world->prometheus, &text);
    assert_non_null(strstr(text.data, "controller_runtime_reconcile_total{controller=\"pytorchjob-"
                                      "controller\",result=\"error\"} 1\n"));
    assert_non_null(strstr(text.data, "controller_runtime_reconcile_time_seconds_count{controller="
                                      "\"pytorchjob-controller\"} 2\n"));
}

static void metrics_without_a_registry_are_ignored(void **state)
{
    struct world *world = *state;

    training_metrics_init(&world->metrics, NULL, &TRAINING_TFJOB);
    write_status(world, "", CREATED);
    training_metrics_count_deleted(&world->metrics, "team");
    assert_count(world, "created", 0);
}

static void gauges_show_queue_and_cache_sizes(void **state)
{
    struct world *world = *state;
    _cleanup_buf_ struct buf text;

    training_metrics_show(&world->metrics, &(struct training_controller_view){
                                               .queued = 3, .jobs = 5, .pods = 7, .services = 6});
    buf_init(&text, 1 << 16);
    prometheus_write(world->prometheus, &text);
    assert_non_null(strstr(text.data, "workqueue_depth{name=\"pytorchjob-controller\"} 3\n"));
    assert_non_null(strstr(text.data, "resource=\"pytorchjobs\"} 5\n"));
    assert_non_null(strstr(text.data, "resource=\"pods\"} 7\n"));
    assert_non_null(strstr(text.data, "resource=\"services\"} 6\n"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_status_change_is_counted_once),
        TEST(gauges_show_queue_and_cache_sizes),
        TEST(rejected_job_counts_as_created_and_failed),
        TEST(simultaneous_replica_restarts_are_one_restart),
        TEST(deletions_and_passes_are_counted),
        TEST(metrics_without_a_registry_are_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
