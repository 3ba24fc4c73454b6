/* Tests watches whose clients do not read, behind connections in memory: their backlogs are
 * bounded, they get only whole events, and they get an error that tells them to list again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api_server.h"
#include "base/mem.h"
#include "engine/api/open_calls.h"
#include "engine/internal.h"
#include "engine/watch/events.h"
#include "net/http/http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAPS "/api/v1/namespaces/default/configmaps"

enum { FILL = 100 * 1000, EVENTS_MAX = 1000 * 1000, STREAM_MAX = 32 * 1024 };

static int setup(void **state)
{
    *state = api_server_new(EVENTS_MAX);
    return 0;
}

static int teardown(void **state)
{
    api_server_free(*state);
    return 0;
}

/* Creates (number 0) or replaces the map "large" with FILL bytes. */
static void write_large(struct api_server *server, int number)
{
    struct api_peer peer;
    char *fill = mem_zalloc(FILL + 1);
    memset(fill, 'x', FILL);
    const char *body = arena_printf(
        server->arena,
        "{\"metadata\":{\"name\":\"large\"},\"data\":{\"number\":\"%d\",\"fill\":\"%s\"}}", number,
        fill);
    free(fill);
    const char *heard = api_peer_open(&peer, server,
                                      number ? api_peer_request(server, "PUT", MAPS "/large", body)
                                             : api_peer_request(server, "POST", MAPS, body));
    assert_memory_equal(heard, number ? "HTTP/1.1 200" : "HTTP/1.1 201", 12);
    api_peer_close(&peer, server);
}

static void open_watch(struct api_peer *peer, struct api_server *server, const char *query)
{
    const char *path = arena_printf(server->arena, MAPS "?watch=true%s", query);
    const char *heard = api_peer_open(peer, server, api_peer_request(server, "GET", path, NULL));
    assert_memory_equal(heard, "HTTP/1.1 200 OK", 15);
}

static size_t count_watches(struct api_server *server)
{
    size_t count = 0;
    LIST_EACH (const struct open_call, each, engine_open_calls(server->engine), link)
        count++;
    return count;
}

/* Lets the peer read. Returns its response so far, with the chunks joined. */
static char *read_body(struct api_peer *peer, struct api_server *server, size_t *ret_size)
{
    memory_stream_hold(peer->stream, false);
    for (int turn = 0; turn < 100; turn++)
        api_server_run(server);
    const struct buf *out = &peer->stream->out;
    char *body = mem_zalloc(out->size + 1), *end = body;
    const char *at = strstr(out->data, "\r\n\r\n") + 4, *last = out->data + out->size;
    while (at < last) {
        char *data;
        size_t size = strtoul(at, &data, 16);
        memcpy(end, data + 2, size);
        end += size;
        at = data + 2 + size + 2;
    }
    *ret_size = (size_t)(end - body);
    return body;
}

/* Returns the types of all events, such as "ADDED MODIFIED ERROR ". Each event must be complete
 * JSON. */
static const char *event_types(struct api_peer *peer, struct api_server *server)
{
    struct buf types;
    size_t size;
    char *body = read_body(peer, server, &size);
    buf_init(&types, 64 * 1024);
    for (const char *line = body; line < body + size;) {
        size_t length = strcspn(line, "\n");
        struct json *event;
        assert_int_equal(json_parse(server->arena, line, length, NULL, &event, NULL), 0);
        const struct json *object = json_get(event, "object");
        const char *type = json_get_string(event, "type", "");
        buf_printf(&types, "%s ", type);
        if (strcmp(type, "ERROR") == 0) {
            assert_int_equal(json_get_int(object, "code", 0), 410);
            assert_string_equal(json_get_string(object, "reason", ""), "Expired");
            assert_string_equal(json_get_string(object, "kind", ""), "Status");
        }
        line += length + 1;
    }
    free(body);
    const char *text = arena_strdup(server->arena, types.data);
    buf_release(&types);
    return text;
}

static void a_connection_buffers_little_of_a_backlog(void **state)
{
    struct api_server *server = *state;
    struct api_peer watch;
    write_large(server, 0);
    open_watch(&watch, server, "");
    for (int number = 1; number <= 5; number++)
        write_large(server, number);
    assert_in_range(watch.stream->out.size - watch.stream->taken, 1, STREAM_MAX);
    const struct budget *kept = watch_events_budget(engine_watch_events(server->engine));
    assert_in_range(kept->used, 5 * FILL, 7 * FILL);
    assert_string_equal(event_types(&watch, server),
                        "ADDED MODIFIED MODIFIED MODIFIED MODIFIED MODIFIED ");
    assert_int_equal(kept->used, 0);
    api_peer_close(&watch, server);
}

static void watches_share_their_backlog(void **state)
{
    enum { WATCHES = 40 };
    struct api_server *server = *state;
    struct api_peer watches[WATCHES];
    /* A selector changes which watches get an event, not its bytes. */
    for (int i = 0; i < WATCHES; i++)
        open_watch(&watches[i], server, i % 2 ? "&labelSelector=a!%3Db" : "");
    for (int number = 0; number < 8; number++)
        write_large(server, number);
    const struct budget *kept = watch_events_budget(engine_watch_events(server->engine));
    assert_in_range(kept->used, 7 * FILL, 9 * FILL);
    assert_int_equal(watch_events_ended(engine_watch_events(server->engine)), 0);
    for (int i = 0; i < WATCHES; i++) {
        const char *types = event_types(&watches[i], server);
        assert_memory_equal(types, "ADDED MODIFIED ", 15);
        assert_int_equal(strlen(types), 6 + 7 * 9);
        api_peer_close(&watches[i], server);
    }
    assert_int_equal(kept->used, 0);
}

static void a_slow_watch_gets_an_expired_error(void **state)
{
    struct api_server *server = *state;
    struct api_peer slow, quick, again;
    open_watch(&slow, server, "");
    open_watch(&quick, server, "");
    memory_stream_hold(quick.stream, false);
    for (int number = 0; number < 30; number++)
        write_large(server, number);
    assert_true(watch_events_budget(engine_watch_events(server->engine))->used <= EVENTS_MAX);
    /* The slow watch gets the event that it had begun, and then its end. The other watch gets all
     * events. */
    assert_string_equal(event_types(&slow, server), "ADDED ERROR ");
    const char *types = event_types(&quick, server);
    assert_int_equal(strlen(types), 6 + 29 * 9);
    assert_null(strstr(types, "ERROR"));
    assert_int_equal(count_watches(server), 1);
    api_peer_close(&slow, server);
    api_peer_close(&quick, server);
    /* A new list and watch work as before. */
    open_watch(&again, server, "");
    assert_string_equal(event_types(&again, server), "ADDED ");
    api_peer_close(&again, server);
}

/* Watches with different options share fewer events: the memory limit is reached, and all slow
 * watches end. */
static void slow_watches_end_until_memory_is_free(void **state)
{
    enum { WATCHES = 12 };
    struct api_server *server = *state;
    struct api_peer watches[WATCHES];
    for (int number = 0; number < WATCHES; number++) {
        open_watch(&watches[number], server, "&resourceVersion=0&allowWatchBookmarks=true");
        write_large(server, number);
    }
    const struct budget *kept = watch_events_budget(engine_watch_events(server->engine));
    assert_true(kept->used <= EVENTS_MAX);
    assert_true(watch_events_ended(engine_watch_events(server->engine)) > 0);
    for (int i = 0; i < WATCHES; i++)
        api_peer_close(&watches[i], server);
    assert_int_equal(kept->used, 0);
    assert_int_equal(count_watches(server), 0);
}

struct listener_state {
    int events, ends;
};

static void on_data(void *context, const void *data, size_t size)
{
    struct listener_state *listener = context;
    for (const char *at = data; (at = memchr(at, '\n', size - (size_t)(at - (const char *)data)));
         at++)
        listener->events++;
}

static void on_end(void *context, const struct err *err)
{
    ((struct listener_state *)context)->ends++;
}

static void watches_of_this_process_are_never_ended(void **state)
{
    struct api_server *server = *state;
    struct api_peer slow;
    struct listener_state heard = {0};
    struct http_transport *transport =
        http_local_new(server->loop, engine_handle, server->engine, API_SERVER_TOKEN);
    const struct http_request request = {.method = "GET", .path = MAPS, .query = "watch=true"};
    const struct http_callbacks listener = {.on_data = on_data, .on_end = on_end};
    http_start(transport, &request, 0, &listener, &heard);
    open_watch(&slow, server, "");
    for (int number = 0; number < 30; number++)
        write_large(server, number);
    assert_int_equal(heard.events, 30);
    assert_int_equal(heard.ends, 0);
    api_peer_close(&slow, server);
    http_transport_free(transport);
}

/* A watch times out in the middle of an event. */
static void a_timeout_ends_after_a_complete_event(void **state)
{
    struct api_server *server = *state;
    struct api_peer watch;
    open_watch(&watch, server, "&timeoutSeconds=1");
    for (int number = 0; number < 3; number++)
        write_large(server, number);
    for (int turn = 0; turn < 150; turn++)
        api_server_run(server);
    assert_int_equal(count_watches(server), 1);
    assert_string_equal(event_types(&watch, server), "ADDED ");
    assert_int_equal(count_watches(server), 0);
    api_peer_close(&watch, server);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_connection_buffers_little_of_a_backlog), TEST(watches_share_their_backlog),
        TEST(a_slow_watch_gets_an_expired_error),       TEST(slow_watches_end_until_memory_is_free),
        TEST(watches_of_this_process_are_never_ended),  TEST(a_timeout_ends_after_a_complete_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
