/* Tests the client's calls and watches against a fake API in virtual time. */
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
    int calls;
    enum err_code code;
    char message[ERR_MESSAGE_MAX];
    char text[4096]; /* the object of the last response */
    char events[4096];
    int ends;
    struct kube_watch *watch;
};

static int setup(void **state)
{
    struct world *world = mem_zalloc(sizeof(*world));
    world->loop = sim_loop_new(1, 1000000000000);
    fake_api_init(&world->api, world->loop);
    world->client = kube_client_new(world->loop, world->api.transport, "tester");
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;
    kube_client_free(world->client);
    fake_api_release(&world->api);
    loop_free(world->loop);
    free(world);
    return 0;
}

static void on_done(void *context, struct json *object, const struct err *err)
{
    struct world *world = context;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    world->calls++;
    assert_true((object == NULL) == (err != NULL));
    world->code = err ? err->code : ERR_NONE;
    str_copy(world->message, sizeof(world->message), err ? err->message : "");
    str_copy(world->text, sizeof(world->text), object ? json_to_string(arena, object) : "");
}

static const char *last_request(struct world *world)
{
    assert_true(world->api.requests.count > 0);
    return world->api.requests.items[world->api.requests.count - 1];
}

static void requests_have_the_form_of_the_api(void **state)
{
    struct world *world = *state;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *object = read_json(arena, "{'a': 1}");
    struct kube_client *client = world->client;

    kube_get(client, &KUBE_PODS, "default", "p", on_done, world);
    assert_int_equal(world->calls, 0); /* the callback never runs from within the call */
    loop_run(world->loop);
    assert_string_equal(last_request(world), "GET /api/v1/namespaces/default/pods/p? ");
    assert_int_equal(world->code, ERR_NOT_FOUND);
    assert_string_equal(world->message, "asked to fail");

    kube_list(client, &KUBE_PODS, NULL, "a in (b,c)", "spec.nodeName=n", on_done, world);
    loop_run(world->loop);
    assert_string_equal(last_request(world), "GET /api/v1/pods?labelSelector=a%20in%20%28b%2Cc%29&"
                                             "fieldSelector=spec.nodeName%3Dn ");
    kube_create(client, &KUBE_JOBS, "n", object, on_done, world);
    loop_run(world->loop);
    assert_string_equal(last_request(world), "POST /apis/batch/v1/namespaces/n/jobs?"
                                             "fieldManager=tester {\"a\":1}");
    assert_string_equal(world->text, "{\"a\":1}");
    assert_string_equal(world->api.accept, "application/json");
    kube_create_metadata_only(client, &KUBE_PODS, "n", object, true, on_done, world);
    loop_run(world->loop);
    assert_string_equal(
        last_request(world),
        "POST /api/v1/namespaces/n/pods?fieldManager=tester&fieldValidation=Strict {\"a\":1}");
    assert_string_equal(world->api.accept, "application/json;as=PartialObjectMetadata;"
                                           "g=meta.k8s.io;v=v1, application/json");
    kube_update(client, &KUBE_NODES, NULL, "x", object, on_done, world);
    loop_run(world->loop);
    assert_string_equal(last_request(world), "PUT /api/v1/nodes/x?fieldManager=tester {\"a\":1}");
    kube_update_status(client, &KUBE_PODS, "n", "x", object, on_done, world);
    loop_run(world->loop);
    assert_string_equal(last_request(world),
                        "PUT /api/v1/namespaces/n/pods/x/status?fieldManager=tester {\"a\":1}");
    kube_patch(client, &KUBE_PODS, "n", "x", "status", object, on_done, world);
    loop_run(world->loop);
    assert_string_equal(last_request(world),
                        "PATCH /api/v1/namespaces/n/pods/x/status?fieldManager=tester {\"a\":1}");
    struct kube_delete_options options = {0, "Background", "u"};
    kube_delete(client, &KUBE_PODS, "n", "x", &options, on_done, world);
    loop_run(world->loop);
    assert_string_equal(last_request(world),
                        "DELETE /api/v1/namespaces/n/pods/x? {\"apiVersion\":\"v1\",\"kind\":"
                        "\"DeleteOptions\",\"gracePeriodSeconds\":0,\"propagationPolicy\":"
                        "\"Background\",\"preconditions\":{\"uid\":\"u\"}}");
    kube_delete(client, &KUBE_PODS, "n", "x", NULL, on_done, world);
    loop_run(world->loop);
    assert_string_equal(last_request(world), "DELETE /api/v1/namespaces/n/pods/x? {\"apiVersion\":"
                                             "\"v1\",\"kind\":\"DeleteOptions\"}");
    assert_int_equal(world->calls, 9);
}

static void rejects_wrong_names_before_sending(void **state)
{
    struct world *world = *state;
    static const char *const BAD[][2] = {{"n", ""}, {"n", "a/b"}, {"n", ".."}, {"a/b", "x"},
                                         {"", "x"}, {NULL, "x"},  {"n", NULL}};
    for (size_t i = 0; i < ARRAY_SIZE(BAD); i++) {
        kube_get(world->client, &KUBE_PODS, BAD[i][0], BAD[i][1], on_done, world);
        assert_int_equal(world->calls, i);
        loop_run(world->loop);
        assert_int_equal(world->calls, i + 1);
        assert_int_equal(world->code, ERR_INVALID);
    }
    assert_int_equal(world->api.requests.count, 0);
}

static void returns_the_error_of_the_server(void **state)
{
    static const struct {
        int status;
        enum err_code code;
    } CASES[] = {{409, ERR_EXISTS},   {422, ERR_INVALID},  {403, ERR_FORBIDDEN},
                 {500, ERR_INTERNAL}, {429, ERR_TOO_MANY}, {503, ERR_UNAVAILABLE}};
    struct world *world = *state;
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        world->api.fail_count = 1;
        world->api.fail_status = CASES[i].status;
        kube_get(world->client, &KUBE_PODS, "default", "p", on_done, world);
        loop_run(world->loop);
        assert_int_equal(world->code, CASES[i].code);
    }
}

static void retries_after_the_delay_of_the_server(void **state)
{
    struct world *world = *state;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *object = read_json(arena, "{'a': 1}");
    world->api.retry_after = "2";
    world->api.fail_status = 429;
    world->api.fail_count = 3;
    kube_create(world->client, &KUBE_PODS, "default", object, on_done, world);
    sim_loop_run_for(world->loop, 1900);
    assert_int_equal(world->api.requests.count, 1);
    assert_int_equal(world->calls, 0);
    loop_run(world->loop);
    assert_int_equal(world->code, ERR_NONE);
    assert_int_equal(world->calls, 1);
    assert_int_equal(fake_api_count(&world->api, "{\"a\":1}"), 4); /* the body is sent each time */
    assert_in_range(loop_now_ms(world->loop), 6000, 8000);

    /* The call is not retried forever, and only if the server asks for it. */
    world->api.fail_count = 1000;
    kube_get(world->client, &KUBE_PODS, "default", "p", on_done, world);
    loop_run(world->loop);
    assert_int_equal(world->code, ERR_TOO_MANY);
    assert_int_equal(world->api.requests.count, 4 + 11);
    world->api.retry_after = NULL;
    kube_get(world->client, &KUBE_PODS, "default", "p", on_done, world);
    loop_run(world->loop);
    assert_int_equal(world->api.requests.count, 4 + 12);

    /* A call that waits for a retry ends with its client. */
    world->api.retry_after = "2";
    kube_get(world->client, &KUBE_PODS, "default", "p", on_done, world);
    sim_loop_run_for(world->loop, 1000);
    world->client = kube_client_free(world->client);
    loop_run(world->loop);
    assert_int_equal(world->api.requests.count, 4 + 13);
    assert_int_equal(world->calls, 3);
}

static void gives_up_on_a_silent_server(void **state)
{
    struct world *world = *state;
    world->api.silent = true;
    kube_get(world->client, &KUBE_PODS, "default", "p", on_done, world);
    loop_run(world->loop);
    assert_int_equal(world->calls, 1);
    assert_int_equal(world->code, ERR_TIMEOUT);
}

static void a_freed_client_calls_no_callback(void **state)
{
    struct world *world = *state;
    world->api.delay_ms = 50;
    kube_get(world->client, &KUBE_PODS, "default", "p", on_done, world);
    kube_get(world->client, &KUBE_PODS, "default", "", on_done, world);
    sim_loop_run_for(world->loop, 0);
    assert_int_equal(world->calls, 1);
    kube_get(world->client, &KUBE_PODS, "default", "", on_done, world);
    world->client = kube_client_free(world->client);
    loop_run(world->loop);
    assert_int_equal(world->calls, 1);
}

static void free_client(void *context, struct json *object, const struct err *err)
{
    struct world *world = context;
    world->calls++;
    world->client = kube_client_free(world->client);
}

static void a_client_may_be_freed_in_its_callback(void **state)
{
    struct world *world = *state;
    kube_get(world->client, &KUBE_PODS, "default", "p", free_client, world);
    kube_get(world->client, &KUBE_PODS, "default", "p", free_client, world);
    loop_run(world->loop);
    assert_int_equal(world->calls, 1);
}

/* ---- Watches ---- */

static void on_event(void *context, const char *type, struct json *object)
{
    struct world *world = context;
    size_t used = strlen(world->events);
    snprintf(world->events + used, sizeof(world->events) - used, "%s %s; ", type,
             kube_meta_name(object));
}

static void on_end(void *context, const struct err *err)
{
    struct world *world = context;
    world->ends++;
    world->code = err ? err->code : ERR_NONE;
    world->watch = NULL;
}

static void start(struct world *world, const char *version)
{
    world->watch = kube_watch_start(world->client, &KUBE_PODS, "default", "v", NULL, version,
                                    on_event, on_end, world);
}

static void a_watch_delivers_events_in_order(void **state)
{
    struct world *world = *state;
    fake_api_put(&world->api, "a", "1"); /* 101 */
    fake_api_put(&world->api, "b", "1"); /* 102 */
    start(world, "101");
    sim_loop_run_for(world->loop, 10);
    assert_string_equal(world->events, "ADDED b; ");
    assert_int_equal(fake_api_count(&world->api, "allowWatchBookmarks=true"), 1);
    assert_int_equal(fake_api_count(&world->api, "labelSelector=v&resourceVersion=101"), 1);
    fake_api_put(&world->api, "a", "2");
    fake_api_delete(&world->api, "b");
    fake_api_bookmark(&world->api);
    sim_loop_run_for(world->loop, 10);
    assert_string_equal(world->events, "ADDED b; MODIFIED a; DELETED b; BOOKMARK ; ");
    fake_api_cut_watches(&world->api, false);
    sim_loop_run_for(world->loop, 10);
    assert_int_equal(world->ends, 1);
    assert_int_equal(world->code, ERR_NONE);
}

static void joins_lines_from_several_pieces(void **state)
{
    struct world *world = *state;
    static const char LINES[] =
        "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"x\"}}}\n"
        "\r\n{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"name\":\"y\"}"
        "}}\n";
    start(world, "101");
    sim_loop_run_for(world->loop, 1);
    for (const char *c = LINES; *c; c++) {
        fake_api_write_watches(&world->api, (char[]){*c, '\0'});
        sim_loop_run_for(world->loop, 1);
    }
    assert_string_equal(world->events, "ADDED x; DELETED y; ");
}

/* Writes a line of more bytes than KUBE_WATCH_LARGE between two short ones. */
static void write_large(struct world *world)
{
    _cleanup_buf_ struct buf lines;
    buf_init(&lines, SIZE_MAX / 2);
    buf_append_str(&lines, "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"x\"}}}\n"
                           "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"large\","
                           "\"managedFields\":[]},\"data\":\"");
    for (size_t i = 0; i < KUBE_WATCH_LARGE; i++)
        buf_append_char(&lines, 'a');
    buf_append_str(&lines,
                   "\"}}\n{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"name\":\"y\"}}}\n");
    fake_api_write_watches(&world->api, lines.data);
}

static void on_large_event(void *context, const char *type, struct json *object)
{
    struct world *world = context;
    struct arena *arena = kube_watch_take_arena(world->watch);
    bool is_large = str_eq(kube_meta_name(object), "large");
    assert_int_equal(arena != NULL, is_large);
    assert_null(json_at(object, "metadata", "managedFields", NULL));
    if (is_large)
        assert_int_equal(json_get(object, "data")->size, KUBE_WATCH_LARGE);
    on_event(context, type, object);
    arena_free(arena);
}

static void decodes_large_events_in_order(void **state)
{
    struct world *world = *state;
    world->watch = kube_watch_start(world->client, &KUBE_PODS, "default", NULL, NULL, "101",
                                    on_large_event, on_end, world);
    sim_loop_run_for(world->loop, 1);
    write_large(world);
    write_large(world);
    fake_api_cut_watches(&world->api, false); /* the end comes while the first event is decoded */
    sim_loop_run_for(world->loop, 100);
    assert_string_equal(world->events,
                        "ADDED x; ADDED large; DELETED y; ADDED x; ADDED large; DELETED y; ");
    assert_int_equal(world->ends, 1);
    assert_int_equal(world->code, ERR_NONE);
}

static void on_event_that_stops(void *context, const char *type, struct json *object)
{
    struct world *world = context;
    on_event(context, type, object);
    if (str_eq(kube_meta_name(object), "large")) {
        kube_watch_stop(world->watch);
        world->watch = NULL;
    }
}

static void a_watch_may_be_stopped_during_a_large_event(void **state)
{
    struct world *world = *state;
    for (int during = 0; during < 2; during++) {
        world->events[0] = '\0';
        world->watch = kube_watch_start(world->client, &KUBE_PODS, "default", NULL, NULL, "101",
                                        on_event_that_stops, on_end, world);
        sim_loop_run_for(world->loop, 1);
        write_large(world);
        while (during && !world->events[0])
            sim_loop_run_for(world->loop, 0);
        if (during)
            kube_watch_stop(world->watch);
        sim_loop_run_for(world->loop, 100);
        if (!during)
            assert_string_equal(world->events, "ADDED x; ADDED large; ");
    }
    assert_int_equal(world->ends, 0);
}

static void reports_how_a_watch_ends(void **state)
{
    static const struct {
        const char *text;
        enum err_code code;
    } CASES[] = {
        {"{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"code\":410,"
         "\"reason\":\"Expired\"}}\n",
         ERR_EXPIRED},
        {"{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"code\":500}}"
         "\n",
         ERR_INTERNAL},
        {"nonsense\n", ERR_INTERNAL},
        {"{\"type\":\"RENAMED\",\"object\":{}}\n", ERR_INTERNAL},
        {"{\"type\":\"ADDED\"}\n", ERR_INTERNAL},
    };
    struct world *world = *state;
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        start(world, "101");
        sim_loop_run_for(world->loop, 1);
        fake_api_write_watches(&world->api, CASES[i].text);
        sim_loop_run_for(world->loop, 1);
        assert_int_equal(world->ends, i + 1);
        assert_int_equal(world->code, CASES[i].code);
        assert_int_equal(world->api.watchers.count, 0);
    }
    start(world, "101");
    sim_loop_run_for(world->loop, 1);
    fake_api_cut_watches(&world->api, true);
    sim_loop_run_for(world->loop, 1);
    assert_int_equal(world->code, ERR_UNAVAILABLE);
    world->api.oldest_revision = 200;
    world->api.refuse_old_by_status = true;
    start(world, "101");
    sim_loop_run_for(world->loop, 1);
    assert_int_equal(world->code, ERR_EXPIRED);
    assert_string_equal(world->events, "");
}

static void ends_a_watch_that_exceeds_its_timeout(void **state)
{
    struct world *world = *state;
    start(world, "101");
    for (int i = 0; i < 4; i++) {
        sim_loop_run_for(world->loop, 70 * 1000);
        fake_api_bookmark(&world->api);
    }
    assert_int_equal(world->ends, 0);
    for (int i = 0; i < 6 && world->ends == 0; i++) {
        sim_loop_run_for(world->loop, 70 * 1000);
        fake_api_bookmark(&world->api);
    }
    assert_int_equal(world->ends, 1);
    assert_int_equal(world->code, ERR_TIMEOUT);
}

/* A silent watch ends as if the server had ended it: it can be resumed from its last revision. */
static void ends_a_silent_watch(void **state)
{
    struct world *world = *state;
    start(world, "101");
    sim_loop_run_for(world->loop, 149 * 1000);
    assert_int_equal(world->ends, 0);
    sim_loop_run_for(world->loop, 2 * 1000);
    assert_int_equal(world->ends, 1);
    assert_int_equal(world->code, ERR_NONE);
}

static void stop_on_event(void *context, const char *type, struct json *object)
{
    struct world *world = context;
    on_event(context, type, object);
    kube_watch_stop(TAKE(world->watch));
}

static void a_stopped_watch_delivers_no_events(void **state)
{
    struct world *world = *state;
    start(world, "101");
    sim_loop_run_for(world->loop, 1);
    kube_watch_stop(TAKE(world->watch));
    fake_api_put(&world->api, "a", "1");
    loop_run(world->loop);
    /* The watch is freed in its own callback, with more events in the same piece. */
    fake_api_put(&world->api, "b", "1");
    world->watch = kube_watch_start(world->client, &KUBE_PODS, "default", NULL, NULL, "100",
                                    stop_on_event, on_end, world);
    loop_run(world->loop);
    assert_string_equal(world->events, "ADDED a; ");
    assert_int_equal(world->ends, 0);
    /* The watch ends with its client. */
    start(world, "100");
    sim_loop_run_for(world->loop, 1);
    world->client = kube_client_free(world->client);
    loop_run(world->loop);
    assert_int_equal(world->ends, 0);
    assert_int_equal(world->api.watchers.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(requests_have_the_form_of_the_api),
        TEST(rejects_wrong_names_before_sending),
        TEST(returns_the_error_of_the_server),
        TEST(retries_after_the_delay_of_the_server),
        TEST(gives_up_on_a_silent_server),
        TEST(a_freed_client_calls_no_callback),
        TEST(a_client_may_be_freed_in_its_callback),
        TEST(a_watch_delivers_events_in_order),
        TEST(joins_lines_from_several_pieces),
        TEST(decodes_large_events_in_order),
        TEST(a_watch_may_be_stopped_during_a_large_event),
        TEST(reports_how_a_watch_ends),
        TEST(ends_a_watch_that_exceeds_its_timeout),
        TEST(ends_a_silent_watch),
        TEST(a_stopped_watch_delivers_no_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
