/* Tests metrics.k8s.io: what the backend is asked for, and the forms of the response. */
#include "api.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "read_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define METRICS "/apis/metrics.k8s.io/v1beta1/"
#define PODS    "/api/v1/namespaces/default/pods"
#define TABLE   "application/json;as=Table;v=v1;g=meta.k8s.io"

/* A backend that responds in the next turn. */
struct meter {
    struct loop_timer timer;
    engine_usage_done *done;
    void *context;
    const char *uid; /* uid of the only running pod */
    bool is_slow;    /* takes longer than the client waits */
    bool ends;       /* the backend is shutting down */
    int cancelled;
};

static void on_turn(struct loop_timer *timer)
{
    struct meter *meter = CONTAINER_OF(timer, struct meter, timer);
    const struct engine_container_usage containers[] = {{"main", {1500000, 3 << 20}},
                                                        {"side", {7, 1 << 20}}};
    const struct engine_pod_usage pod = {meter->uid, containers, 2};
    const struct engine_usage_report report = {.taken_ms = 1000,
                                               .window_ms = 61500,
                                               .machine = {2000000000, (int64_t)1 << 30},
                                               .pods = &pod,
                                               .count = 1};
    meter->done(meter->context, meter->ends ? NULL : &report);
}

static void *ask(void *context, engine_usage_done *done, void *done_context)
{
    struct meter *meter = context;
    meter->done = done;
    meter->context = done_context;
    loop_timer_start(&meter->timer, meter->is_slow ? 3600 * 1000 : 1000);
    return meter;
}

static void cancel(void *asked)
{
    struct meter *meter = asked;
    loop_timer_stop(&meter->timer);
    meter->cancelled++;
}

static void make_pod(struct api *api, const char *name)
{
    const char *body = arena_printf(api->arena,
                                    "{'metadata':{'name':'%s','labels':{'app':'%s'}},'spec':{"
                                    "'containers':[{'name':'main','image':'i'}]}}",
                                    name, name);
    assert_int_equal(api_post(api, PODS, quoted(api->arena, body)).status, 201);
}

static void open_meter(struct api *api, struct meter *meter)
{
    *meter = (struct meter){0};
    const struct engine_pod_backend backend = {
        .usage = ask, .usage_cancel = cancel, .context = meter};
    loop_timer_init(api->loop, &meter->timer, on_turn);
    make_pod(api, "x");
    make_pod(api, "y"); /* does not run */
    meter->uid = api_at(api, PODS "/x", "metadata.uid");
    assert_int_equal(api_post(api, "/api/v1/nodes", "{\"metadata\":{\"name\":\"n\"}}").status, 201);
    engine_set_pod_backend(api->engine, &backend);
}

static void test_pods(void **state)
{
    struct api *api = *state;
    struct meter meter;
    assert_int_equal(api_get(api, METRICS "pods").status, 503); /* no backend */
    open_meter(api, &meter);
    struct answer answer = api_get(api, METRICS "namespaces/default/pods");
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer_at(api, &answer, "kind"), "PodMetricsList");
    assert_int_equal(json_count(json_get(answer.json, "items")), 1);
    assert_string_equal(answer_at(api, &answer, "items.0.metadata.name"), "x");
    assert_string_equal(answer_at(api, &answer, "items.0.metadata.labels.app"), "x");
    assert_string_equal(answer_at(api, &answer, "items.0.kind"), "");
    assert_string_equal(answer_at(api, &answer, "items.0.timestamp"), "1970-01-01T00:00:01Z");
    assert_string_equal(answer_at(api, &answer, "items.0.window"), "1m1.5s");
    assert_string_equal(answer_at(api, &answer, "items.0.containers.0.usage.cpu"), "1500u");
    assert_string_equal(answer_at(api, &answer, "items.0.containers.0.usage.memory"), "3Mi");
    assert_string_equal(answer_at(api, &answer, "items.0.containers.1.name"), "side");

    answer = api_get(api, METRICS "namespaces/default/pods/x");
    assert_string_equal(answer_at(api, &answer, "kind"), "PodMetrics");
    answer = api_get(api, METRICS "namespaces/default/pods/y");
    assert_int_equal(answer.status, 404);
    assert_string_equal(answer_message(&answer),
                        "podmetrics.metrics.k8s.io \"default/y\" not found");
    answer = api_get(api, METRICS "namespaces/default/pods/z");
    assert_string_equal(answer_message(&answer), "pods \"z\" not found");
}

static void test_selectors(void **state)
{
    static const struct {
        const char *query;
        size_t count;
    } CASES[] = {
        {"pods", 1},
        {"pods?labelSelector=app%3Dx", 1},
        {"pods?labelSelector=app%3Dy", 0},
        {"pods?fieldSelector=metadata.name%3Dx", 1},
        {"pods?fieldSelector=metadata.name%3Dy", 0},
        {"namespaces/other/pods", 0},
        {"nodes?labelSelector=app", 0},
    };
    struct api *api = *state;
    struct meter meter;
    open_meter(api, &meter);
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        struct answer answer = api_get(api, arena_printf(api->arena, METRICS "%s", CASES[i].query));
        assert_int_equal(answer.status, 200);
        assert_int_equal(json_count(json_get(answer.json, "items")), CASES[i].count);
    }
    assert_int_equal(api_get(api, METRICS "pods?fieldSelector=spec.nodeName%3Dn").status, 400);
    assert_int_equal(api_get(api, METRICS "pods?labelSelector=%3D%3D").status, 400);
}

static void test_nodes_and_tables(void **state)
{
    struct api *api = *state;
    struct meter meter;
    open_meter(api, &meter);
    struct answer answer = api_get(api, METRICS "nodes/n");
    assert_string_equal(answer_at(api, &answer, "usage.cpu"), "2");
    assert_string_equal(answer_at(api, &answer, "usage.memory"), "1Gi");
    answer = api_call(api, "GET", METRICS "pods", NULL, TABLE, NULL);
    assert_string_equal(answer_at(api, &answer, "kind"), "Table");
    assert_string_equal(answer_at(api, &answer, "columnDefinitions.1.name"), "cpu");
    assert_string_equal(answer_at(api, &answer, "columnDefinitions.3.name"), "Window");
    assert_string_equal(answer_at(api, &answer, "rows.0.cells.0"), "x");
    assert_string_equal(answer_at(api, &answer, "rows.0.cells.1"), "1500007n");
    assert_string_equal(answer_at(api, &answer, "rows.0.cells.2"), "4Mi");
    assert_string_equal(answer_at(api, &answer, "rows.0.cells.3"), "1m1.5s");
    answer = api_call(api, "GET", METRICS "nodes", NULL, TABLE, NULL);
    assert_string_equal(answer_at(api, &answer, "rows.0.cells.1"), "2");
    assert_int_equal(api_delete(api, METRICS "nodes/n", NULL).status, 405);
}

/* The client may disconnect, and the backend may shut down. */
static void test_client_disconnect_and_shutdown(void **state)
{
    struct api *api = *state;
    struct meter meter;
    open_meter(api, &meter);
    meter.is_slow = true;
    stream_close(stream_open(api, METRICS "pods", NULL));
    assert_int_equal(meter.cancelled, 1);
    meter.is_slow = false;
    meter.ends = true;
    assert_int_equal(api_get(api, METRICS "pods").status, 503);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_pods, api_setup, api_teardown),
        cmocka_unit_test_setup_teardown(test_selectors, api_setup, api_teardown),
        cmocka_unit_test_setup_teardown(test_nodes_and_tables, api_setup, api_teardown),
        cmocka_unit_test_setup_teardown(test_client_disconnect_and_shutdown, api_setup,
                                        api_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
