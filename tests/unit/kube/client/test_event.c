/* Tests recording events against a fake API. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"
#include "fake_api.h"
#include "kube/client/client.h"
#include "kube/object.h"
#include "loop/sim/sim_loop.h"
#include "read_json.h"

#include <stdio.h>

struct world {
    struct loop *loop;
    struct fake_api api;
    struct kube_client *client;
    struct arena *arena;
    struct json *job;
};

static int setup(void **state)
{
    struct world *world = mem_zalloc(sizeof(*world));
    world->loop = sim_loop_new(1, 1000000000000);
    fake_api_init(&world->api, world->loop);
    world->client = kube_client_new(world->loop, world->api.transport, "tester");
    world->arena = arena_new();
    world->job = read_json(world->arena,
                           "{'apiVersion': 'kubeflow.org/v1', 'kind': 'TFJob', 'metadata': {"
                           "'name': 'j', 'namespace': 'n', 'uid': 'u', 'resourceVersion': '7'}}");
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;
    kube_client_free(world->client);
    fake_api_release(&world->api);
    loop_free(world->loop);
    arena_free(world->arena);
    free(world);
    return 0;
}

static void record_event(struct world *world, int number)
{
    kube_event(world->client, world->job, "tfjob-controller", "Normal", "Created", "pod %d made",
               number);
}

static void an_event_is_created(void **state)
{
    struct world *world = *state;
    record_event(world, 1);
    loop_run(world->loop);
    assert_int_equal(world->api.requests.count, 1);
    const char *request = world->api.requests.items[0];
    assert_true(str_has_prefix(request, "POST /api/v1/namespaces/n/events?fieldManager=tester "));
    struct json *event = NULL;
    const char *body = strchr(request, '{');
    assert_int_equal(json_parse(world->arena, body, strlen(body), NULL, &event, NULL), 0);
    assert_true(str_has_prefix(kube_meta_name(event), "j."));
    struct json *expected = read_json(
        world->arena,
        "{'apiVersion': 'v1', 'kind': 'Event', 'metadata': {'name': '', 'namespace': 'n'},"
        "'involvedObject': {'apiVersion': 'kubeflow.org/v1', 'kind': 'TFJob', 'namespace': 'n',"
        "'name': 'j', 'uid': 'u', 'resourceVersion': '7'}, 'reason': 'Created',"
        "'message': 'pod 1 made', 'source': {'component': 'tfjob-controller'},"
        "'firstTimestamp': '2001-09-09T01:46:40Z', 'lastTimestamp': '2001-09-09T01:46:40Z',"
        "'count': 1, 'type': 'Normal', 'reportingComponent': 'tfjob-controller',"
        "'reportingInstance': ''}");
    kube_meta_set_name(world->arena, expected, kube_meta_name(event));
    assert_true(json_equal(event, expected));
}

/* The same event about two containers gives two events. */
static void events_of_two_containers_are_separate(void **state)
{
    struct world *world = *state;
    static const char *const PARTS[] = {"spec.containers{a}", "spec.containers{b}",
                                        "spec.containers{a}"};
    for (size_t i = 0; i < ARRAY_SIZE(PARTS); i++)
        kube_event_at(world->client, world->job, PARTS[i], "kubelet", "Warning", "Unhealthy",
                      "it said %d", 500);
    loop_run(world->loop);
    assert_int_equal(fake_api_count(&world->api, "POST"), 2);
    assert_int_equal(fake_api_count(&world->api, "\"fieldPath\":\"spec.containers{a}\""), 1);
    assert_int_equal(fake_api_count(&world->api, "\"fieldPath\":\"spec.containers{b}\""), 1);
    assert_int_equal(fake_api_count(&world->api, "{\"count\":2,"), 1);
}

static void repetitions_are_counted(void **state)
{
    struct world *world = *state;
    /* A hundred repetitions at once become one event with one count. */
    for (int i = 0; i < 100; i++)
        record_event(world, 1);
    record_event(world, 2);
    loop_run(world->loop);
    assert_int_equal(fake_api_count(&world->api, "POST"), 2);
    assert_int_equal(fake_api_count(&world->api, "PATCH"), 1);
    /* The time is that of the event, not that of the write some seconds later. */
    assert_int_equal(fake_api_count(&world->api, "{\"count\":100,\"lastTimestamp\":"
                                                 "\"2001-09-09T01:46:40Z\"}"),
                     1);
    record_event(world, 1);
    loop_run(world->loop);
    assert_int_equal(fake_api_count(&world->api, "{\"count\":101,"), 1);
}

static void a_repetition_in_the_queue_changes_the_last_time(void **state)
{
    struct world *world = *state;
    world->api.delay_ms = 5000;
    record_event(world, 1); /* is being written, so the next event waits in the queue */
    record_event(world, 2);
    sim_loop_run_for(world->loop, 2000);
    record_event(world, 2);
    loop_run(world->loop);
    assert_int_equal(fake_api_count(&world->api, "POST"), 2);
    assert_int_equal(fake_api_count(&world->api, "\"firstTimestamp\":\"2001-09-09T01:46:40Z\","
                                                 "\"lastTimestamp\":\"2001-09-09T01:46:42Z\","
                                                 "\"count\":2"),
                     1);
}

static void a_failed_event_is_created_again(void **state)
{
    struct world *world = *state;
    world->api.fail_count = 1;
    world->api.fail_status = 500;
    record_event(world, 1);
    record_event(world, 1);
    loop_run(world->loop);
    assert_int_equal(world->api.requests.count, 1);
    record_event(world, 1);
    loop_run(world->loop);
    assert_int_equal(fake_api_count(&world->api, "POST"), 2);
    /* The event has expired on the server: the patch fails, and the next event is created. */
    world->api.fail_count = 1;
    world->api.fail_status = 404;
    record_event(world, 1);
    loop_run(world->loop);
    record_event(world, 1);
    loop_run(world->loop);
    assert_int_equal(fake_api_count(&world->api, "PATCH"), 1);
    assert_int_equal(fake_api_count(&world->api, "POST"), 3);
}

static void a_long_message_is_truncated_and_a_node_gets_default(void **state)
{
    struct world *world = *state;
    char message[3000];
    for (size_t i = 0; i + 3 < sizeof(message); i += 3)
        memcpy(message + i, "…", 3);
    message[2997] = '\0';
    struct json *node = kube_object_make(world->arena, &KUBE_NODES, NULL, "n1");
    kube_event(world->client, node, "c", "Warning", "R", "%s", message);
    loop_run(world->loop);
    const char *request = world->api.requests.items[0];
    assert_true(str_has_prefix(request, "POST /api/v1/namespaces/default/events?"));
    struct json *event = NULL;
    const char *body = strchr(request, '{');
    /* Bad UTF-8 would not parse. */
    assert_int_equal(json_parse(world->arena, body, strlen(body), NULL, &event, NULL), 0);
    assert_in_range(strlen(json_get_string(event, "message", "")), 1000, 1024);
}

static void record_event_of(struct world *world, int job, const char *type, const char *reason,
                            int number)
{
    char name[16];
    snprintf(name, sizeof(name), "j%d", job);
    kube_meta_set_name(world->arena, world->job, name);
    kube_event(world->client, world->job, "tfjob-controller", type, reason, "number %d", number);
}

static void the_oldest_events_are_forgotten(void **state)
{
    struct world *world = *state;
    for (int i = 0; i < 1100; i++) {
        record_event_of(world, i, "Normal", "R", 0);
        loop_run(world->loop);
    }
    assert_int_equal(fake_api_count(&world->api, "POST"), 1100);
    record_event_of(world, 1099, "Normal", "R", 0);
    record_event_of(world, 0, "Normal", "R", 0);
    loop_run(world->loop);
    assert_int_equal(fake_api_count(&world->api, "PATCH"), 1);
    assert_int_equal(fake_api_count(&world->api, "POST"), 1101);
}

/* At most four writes are in flight. A queue that is too long accepts only warnings and first
 * occurrences. */
static void writes_wait_in_a_limited_queue(void **state)
{
    struct world *world = *state;
    world->api.delay_ms = 100;
    for (int i = 0; i < 600; i++) {
        record_event_of(world, i, "Normal", "R", 0);
        record_event_of(world, i, "Normal", "R", 1);
    }
    record_event_of(world, 1000, "Warning", "W", 0);
    sim_loop_run_for(world->loop, 50);
    assert_int_equal(fake_api_count(&world->api, "POST"), 1);
    /* A repetition of an event in the queue is only counted. */
    record_event_of(world, 100, "Normal", "R", 0);
    loop_run(world->loop);
    assert_int_equal(fake_api_count(&world->api, "number 0"), 600 + 1);
    assert_int_equal(fake_api_count(&world->api, "number 1"), (1 + 512) / 2);
    assert_int_equal(fake_api_count(&world->api, "\"type\":\"Warning\""), 1);
    assert_int_equal(fake_api_count(&world->api, "\"count\":2"), 1);
    assert_int_equal(fake_api_count(&world->api, "PATCH"), 0);
}

/* The queue is longer than the number of remembered events. Queued events stay, and afterwards the
 * oldest are forgotten. */
static void queued_events_are_not_forgotten(void **state)
{
    struct world *world = *state;
    world->api.delay_ms = 100;
    for (int i = 0; i < 1500; i++)
        record_event_of(world, i, "Normal", "R", 0);
    loop_run(world->loop);
    assert_int_equal(fake_api_count(&world->api, "POST"), 1500);
    record_event_of(world, 1500, "Normal", "R", 0);
    record_event_of(world, 1499, "Normal", "R", 0);
    record_event_of(world, 400, "Normal", "R", 0);
    loop_run(world->loop);
    assert_int_equal(fake_api_count(&world->api, "PATCH"), 1);
    assert_int_equal(fake_api_count(&world->api, "POST"), 1502);
}

static void a_flood_of_events_is_combined(void **state)
{
    struct world *world = *state;
    for (int i = 0; i < 1000; i++) {
        record_event_of(world, 1, "Normal", "SuccessfulCreateService", i);
        sim_loop_run_for(world->loop, 3);
    }
    for (int i = 0; i < 1000; i++) {
        record_event_of(world, 1, "Normal", "SuccessfulCreatePod", i);
        sim_loop_run_for(world->loop, 3);
    }
    sim_loop_run_for(world->loop, 60 * 1000);
    record_event_of(world, 1, "Normal", "TFJobSucceeded", 0);
    sim_loop_run_for(world->loop, 1000);
    assert_in_range(world->api.requests.count, 20, 25);
    for (int i = 0; i < 1000; i++)
        record_event_of(world, 1, "Normal", "SuccessfulDeletePod", i);
    record_event_of(world, 1, "Warning", "TFJobFailed", 0);
    sim_loop_run_for(world->loop, 60 * 1000);
    /* The first event of each reason is not limited. */
    assert_in_range(world->api.requests.count, 20, 27);
    assert_int_equal(fake_api_count(&world->api, "TFJobSucceeded"), 1);
    assert_int_equal(fake_api_count(&world->api, "TFJobFailed"), 1);
    /* In the end the last message and the full count are written. */
    assert_int_equal(fake_api_count(&world->api, "{\"count\":991,"), 2);
    assert_int_equal(fake_api_count(&world->api, "events): number 999\""), 2);
}

static void all_reasons_share_the_budget_of_an_object(void **state)
{
    struct world *world = *state;
    char reason[16];
    for (int round = 0; round < 20; round++)
        for (int i = 0; i < 40; i++) {
            snprintf(reason, sizeof(reason), "R%d", i);
            record_event_of(world, 1, "Warning", reason, round);
        }
    sim_loop_run_for(world->loop, 1000);
    assert_int_equal(fake_api_count(&world->api, "POST"), 40); /* the first event of each reason */
    record_event_of(world, 2, "Warning", "R0", 0);
    sim_loop_run_for(world->loop, 1000);
    /* Another object has its own budget. */
    assert_int_equal(fake_api_count(&world->api, "POST"), 41);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(an_event_is_created),
        TEST(events_of_two_containers_are_separate),
        TEST(repetitions_are_counted),
        TEST(a_repetition_in_the_queue_changes_the_last_time),
        TEST(a_failed_event_is_created_again),
        TEST(a_long_message_is_truncated_and_a_node_gets_default),
        TEST(the_oldest_events_are_forgotten),
        TEST(writes_wait_in_a_limited_queue),
        TEST(queued_events_are_not_forgotten),
        TEST(a_flood_of_events_is_combined),
        TEST(all_reasons_share_the_budget_of_an_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
