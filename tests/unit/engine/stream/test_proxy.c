/* Tests the proxies of pods and services, from the client's request to the pod's bytes and back.
 * The test plays the client on one side and the pod on the other, both on streams in memory and in
 * virtual time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api_line.h"

#include "base/mem.h"
#include "base/str.h"
#include "engine/stream/http_proxy.h"
#include "kube/object.h"
#include "loop/sim/sim_loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct world {
    struct api_line line;
    int port; /* the requested port; 0: none */
    engine_connect_done *done;
    void *context;
    bool canceled;
    struct memory_stream *pod; /* the pod's stream once it is connected */
    bool pod_closed;
};

#define PODS "/api/v1/namespaces/default/pods/"
#define WEB  "/api/v1/namespaces/default/services/"

static void *on_connect(void *context, const struct json *pod, int port, engine_connect_done *done,
                        void *done_context)
{
    struct world *world = context;
    assert_string_equal(kube_meta_name(pod), "x");
    world->port = port;
    world->done = done;
    world->context = done_context;
    return world;
}

static void on_connect_cancel(void *connect)
{
    ((struct world *)connect)->canceled = true;
}

static void run(struct world *world)
{
    api_line_run(&world->line);
}

static int ask(struct world *world, const char *method, const char *path)
{
    return api_line_ask(&world->line, method, path, "");
}

static void put(struct world *world, const char *method, const char *path, const char *body)
{
    api_line_put(&world->line, method, path, body);
}

/* Sends a request that waits for the pod, and connects the pod. */
static void open_pod(struct world *world, const char *method, const char *path, const char *more)
{
    char request[2048];
    int size = snprintf(request, sizeof(request),
                        "%s %s HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer secret\r\n%s\r\n",
                        method, path, more);
    api_line_clear(&world->line);
    memory_stream_send(world->line.peer, request, (size_t)size);
    run(world);
    if (!world->done)
        fail_msg("no connection was asked for: %s", world->line.peer->out.data);
    world->pod = memory_stream_new(world->line.loop, &world->pod_closed);
    world->done(world->context, &world->pod->stream, NULL);
    run(world);
}

static void answer(struct world *world, const char *text)
{
    memory_stream_send(world->pod, text, strlen(text));
    run(world);
}

static void expect(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no '%s' in: %s", part, text);
}

static int setup(void **state)
{
    struct world *world = mem_zalloc(sizeof(*world));
    struct engine_pod_backend backend = {
        .connect = on_connect, .connect_cancel = on_connect_cancel, .context = world};
    api_line_open(&world->line, &backend, "10.9.8.7:1");
    put(world, "POST", "/api/v1/nodes", "{\"metadata\":{\"name\":\"n\"}}");
    put(world, "POST", "/api/v1/namespaces/default/pods",
        "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"nodeName\":\"n\",\"containers\":[{\"name\":"
        "\"main\",\"image\":\"i\",\"ports\":[{\"containerPort\":8080}]}]}}");
    put(world, "PATCH", PODS "x/status",
        "{\"status\":{\"phase\":\"Running\",\"podIP\":\"10.244.1.2\"}}");
    put(world, "POST", "/api/v1/namespaces/default/services",
        "{\"metadata\":{\"name\":\"web\"},\"spec\":{\"ports\":[{\"name\":\"http\",\"port\":80}]}}");
    put(world, "POST", "/api/v1/namespaces/default/endpoints",
        "{\"metadata\":{\"name\":\"web\"},\"subsets\":[{\"addresses\":[{\"ip\":\"10.244.1.2\","
        "\"targetRef\":{\"kind\":\"Pod\",\"name\":\"x\"}}],\"ports\":[{\"name\":\"http\","
        "\"port\":8000}]}]}");
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;
    api_line_close(&world->line);
    if (world->pod)
        assert_true(world->pod_closed);
    free(world);
    return 0;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void a_request_is_forwarded_and_the_response_returned(void **state)
{
    struct world *world = *state;
    open_pod(world, "GET", PODS "x/proxy/a%20b/?watch=true&x=%2F",
             "X-Mine: 1\r\nConnection: X-Hop\r\nX-Hop: 2\r\nTE: trailers\r\n"
             "X-Forwarded-For: 1.2.3.4\r\n");
    assert_int_equal(world->port, 8080);
    assert_string_equal(world->pod->out.data,
                        "GET /a%20b/?watch=true&x=%2F HTTP/1.1\r\nHost: 10.244.1.2:8080\r\n"
                        "X-Mine: 1\r\nX-Forwarded-For: 10.9.8.7\r\n"
                        "X-Forwarded-Uri: /api/v1/namespaces/default/pods/x/proxy/a%20b/\r\n"
                        "Connection: close\r\n\r\n");
    answer(world, "HTTP/1.1 201 Created\r\nContent-Type: text/mine\r\nKeep-Alive: 5\r\n"
                  "Location: /there?q\r\nX-Theirs: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
                  "5\r\nhello\r\n");
    const char *out = world->line.peer->out.data;
    assert_true(str_has_prefix(out, "HTTP/1.1 201 "));
    expect(out, "\r\nContent-Type: text/mine\r\n");
    expect(out, "\r\nLocation: /api/v1/namespaces/default/pods/x/proxy/there?q\r\n");
    expect(out, "\r\nX-Theirs: 3\r\n");
    assert_null(strstr(out, "Keep-Alive"));
    assert_true(str_has_suffix(out, "\r\n\r\n5\r\nhello\r\n")); /* passed on as it arrives */
    answer(world, "6\r\n world\r\n0\r\n\r\n");
    assert_true(str_has_suffix(world->line.peer->out.data, "6\r\n world\r\n0\r\n\r\n"));
    assert_true(world->pod_closed);
    assert_false(world->line.peer_closed);
}

/* The header arrives byte by byte, so that each line comes in pieces. */
static void a_header_line_may_be_empty(void **state)
{
    static const char TEXT[] = "HTTP/1.1 200 OK\r\nX-Empty:\r\nX-Blank: \r\nContent-Type: a/b\r\n"
                               "Content-Length: 2\r\n\r\nok";
    struct world *world = *state;
    open_pod(world, "GET", PODS "x/proxy/", "");
    for (size_t i = 0; i < sizeof(TEXT) - 1; i++)
        answer(world, (char[]){TEXT[i], '\0'});
    const char *out = world->line.peer->out.data;
    expect(out, "\r\nX-Empty: \r\n");
    expect(out, "\r\nX-Blank: \r\n");
    expect(out, "\r\nContent-Type: a/b\r\n");
    expect(out, "\r\n\r\nok");
}

static void a_body_and_its_method_are_forwarded(void **state)
{
    struct world *world = *state;
    char request[512];
    int size = snprintf(request, sizeof(request),
                        "PATCH " WEB "web:80/proxy/items HTTP/1.1\r\nHost: api\r\n"
                        "Authorization: Bearer secret\r\nContent-Type: a/b\r\n"
                        "Content-Length: 4\r\n\r\nbody");
    memory_stream_send(world->line.peer, request, (size_t)size);
    run(world);
    assert_int_equal(world->port, 8000);
    world->pod = memory_stream_new(world->line.loop, &world->pod_closed);
    world->done(world->context, &world->pod->stream, NULL);
    run(world);
    assert_true(str_has_prefix(world->pod->out.data, "PATCH /items HTTP/1.1\r\n"));
    expect(world->pod->out.data, "\r\nContent-Type: a/b\r\n");
    assert_null(strstr(world->pod->out.data, "secret"));
    assert_true(str_has_suffix(world->pod->out.data, "\r\nContent-Length: 4\r\n\r\nbody"));
    answer(world, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 200 OK\r\n\r\nuntil the end");
    memory_stream_send_end(world->pod);
    run(world);
    assert_true(str_has_suffix(world->line.peer->out.data, "d\r\nuntil the end\r\n0\r\n\r\n"));
}

static void a_head_response_has_no_body(void **state)
{
    struct world *world = *state;
    open_pod(world, "HEAD", WEB "web:http/proxy/", "");
    answer(world, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
    expect(world->line.peer->out.data, "\r\nContent-Length: 5\r\n");
    assert_true(str_has_suffix(world->line.peer->out.data, "\r\n\r\n"));
    assert_true(world->pod_closed);
    assert_int_equal(ask(world, "GET", "/version"), 200); /* the connection stays open */
}

static void a_protocol_upgrade_is_forwarded(void **state)
{
    struct world *world = *state;
    open_pod(world, "GET", PODS "x:9/proxy/socket",
             "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\n");
    assert_int_equal(world->port, 9);
    expect(world->pod->out.data, "\r\nSec-WebSocket-Key: k\r\n");
    expect(world->pod->out.data, "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    answer(world, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                  "Connection: Upgrade\r\nSec-WebSocket-Accept: a\r\n\r\n\nearly");
    const char *out = world->line.peer->out.data;
    assert_true(str_has_prefix(out, "HTTP/1.1 101 "));
    expect(out, "\r\nSec-WebSocket-Accept: a\r\n");
    assert_true(str_has_suffix(out, "\r\n\r\n\nearly"));
    buf_clear(&world->pod->out);
    world->pod->taken = 0;
    memory_stream_send(world->line.peer, "question", 8);
    run(world);
    assert_string_equal(world->pod->out.data, "question");
    answer(world, " answer");
    assert_true(str_has_suffix(world->line.peer->out.data, "early answer"));
    memory_stream_send_end(world->line.peer);
    run(world);
    assert_true(world->pod->shut);
    memory_stream_send_end(world->pod);
    run(world);
    assert_true(world->pod_closed);
    assert_true(world->line.peer_closed);
}

static void a_tunnel_ends_with_the_pod(void **state)
{
    struct world *world = *state;
    open_pod(world, "GET", PODS "x/proxy/", "Connection: Upgrade\r\nUpgrade: websocket\r\n");
    answer(world, "HTTP/1.1 101 S\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
    memory_stream_break(world->pod);
    run(world);
    assert_true(world->line.peer_closed);
}

static void a_pod_that_does_not_respond_is_unavailable(void **state)
{
    struct world *world = *state;
    static const char *const answers[] = {
        "no HTTP\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: y",
        "",
        "HTTP/1.1 100 Continue\r\nContent-Length: 4\r\n\r\nbody",
        "HTTP/1.1 101 Unasked\r\nContent-Length: 4\r\n\r\nbody",
    };
    struct err err;
    for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
        open_pod(world, "GET", PODS "x/proxy/", "");
        answer(world, answers[i]);
        if (!world->pod_closed)
            memory_stream_send_end(world->pod);
        run(world);
        assert_true(str_has_prefix(world->line.peer->out.data, "HTTP/1.1 503 "));
        expect(world->line.peer->out.data, "error trying to reach service: ");
    }
    world->pod = NULL;
    memory_stream_send(world->line.peer,
                       "GET " PODS "x/proxy/ HTTP/1.1\r\nHost: a\r\n"
                       "Authorization: Bearer secret\r\n\r\n",
                       strlen("GET " PODS "x/proxy/ HTTP/1.1\r\nHost: a\r\n"
                              "Authorization: Bearer secret\r\n\r\n"));
    run(world);
    err_set(&err, ERR_UNAVAILABLE, "connection refused");
    api_line_clear(&world->line);
    world->done(world->context, NULL, &err);
    run(world);
    expect(world->line.peer->out.data, "error trying to reach service: connection refused");
}

/* A truncated response must not look complete, however its end is signalled. */
static void a_truncated_response_closes_the_connection(void **state)
{
    struct world *world = *state;
    open_pod(world, "GET", PODS "x/proxy/", "");
    answer(world, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel");
    memory_stream_hold(world->line.peer, true); /* so that the sent bytes can be checked */
    memory_stream_send_end(world->pod);
    run(world);
    assert_true(world->pod_closed);
    assert_true(world->line.peer_closed);
}

static void a_disconnected_client_ends_the_pod_connection(void **state)
{
    struct world *world = *state;
    open_pod(world, "GET", PODS "x/proxy/", "");
    memory_stream_send_end(world->line.peer);
    run(world);
    assert_true(world->pod_closed);
}

static void a_disconnect_cancels_the_connect(void **state)
{
    struct world *world = *state;
    static const char request[] =
        "GET " PODS "x/proxy/ HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer secret\r\n\r\n";
    memory_stream_send(world->line.peer, request, strlen(request));
    run(world);
    memory_stream_send_end(world->line.peer);
    run(world);
    assert_true(world->canceled);
}

static void a_client_that_does_not_read_pauses_the_pod(void **state)
{
    enum { SIZE = 60000, COUNT = 50 };
    struct world *world = *state;
    _cleanup_free_ char *piece = mem_zalloc(SIZE);
    open_pod(world, "GET", PODS "x/proxy/", "");
    answer(world, "HTTP/1.1 200 OK\r\n\r\n");
    memory_stream_hold(world->line.peer, true);
    world->pod->piece = SIZE;
    for (int i = 0; i < COUNT; i++)
        memory_stream_send(world->pod, piece, SIZE);
    run(world);
    assert_true(world->line.peer->out.size < 1024 * 1024);
    memory_stream_hold(world->line.peer, false);
    run(world);
    assert_true(world->line.peer->out.size >= (size_t)SIZE * COUNT);
}

static void all_connections_end_with_the_server(void **state)
{
    struct world *world = *state;
    open_pod(world, "GET", PODS "x/proxy/", "Connection: Upgrade\r\nUpgrade: websocket\r\n");
    answer(world, "HTTP/1.1 101 S\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
    http_connection_close(
        LIST_FIRST(&world->line.service.connections, struct http_connection, link));
    run(world);
    assert_true(world->pod_closed);
}

static void missing_targets_get_the_messages_of_kubernetes(void **state)
{
    struct world *world = *state;
    static const struct {
        const char *path;
        int status;
        const char *words;
    } rows[] = {
        {PODS "none/proxy/", 404, "pods \\\"none\\\" not found"},
        {PODS "x:port/proxy/", 400, "invalid port \\\"port\\\""},
        {PODS "ftp:x:80/proxy/", 400, "invalid pod request \\\"ftp:x:80\\\""},
        {PODS "a:b:c:d/proxy/", 400, "invalid pod request"},
        {WEB "none/proxy/", 404, "services \\\"none\\\" not found"},
        {WEB "web:81/proxy/", 503, "no service port 81 found for service \\\"web\\\""},
        {WEB "web/proxy/", 503, "no endpoints available for service \\\"web\\\""},
        {WEB "web:other/proxy/", 503, "no endpoints available for service \\\"web\\\""},
        {"/api/v1/nodes/none/proxy/healthz", 404, "nodes \\\"none\\\" not found"},
        {"/api/v1/nodes/n/proxy/logs/", 404, "have no kubelet"},
        {"/api/v1/nodes/n/proxy/healthz", 200, "\r\n\r\nok"},
        {"/api/v1/nodes/n/proxy/pods", 200, "\"kind\":\"PodList\""},
        {PODS "x/proxy?a=b", 301, "Location: /api/v1/namespaces/default/pods/x/proxy/?a=b\r\n"},
        {"/api/v1/namespaces/default/configmaps/x/proxy/a", 404, "could not find the requested"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        int status = ask(world, "GET", rows[i].path);
        if (status != rows[i].status)
            fail_msg("%s: %s", rows[i].path, world->line.peer->out.data);
        expect(world->line.peer->out.data, rows[i].words);
    }
    assert_int_equal(world->port, 0);
    put(world, "PATCH", PODS "x/status", "{\"status\":{\"podIP\":null,\"podIPs\":null}}");
    assert_int_equal(ask(world, "GET", PODS "x/proxy/"), 400);
    expect(world->line.peer->out.data, "address not allowed");
}

static void ignore_head(void *context, int status, const struct http_header *headers,
                        int64_t length)
{
}

/* At the limit, and one above it. */
static void a_header_has_limits(void **state)
{
    enum { LINES = 256, BYTES = 64 * 1024 };
    static const struct http_proxy_answer_handler handler = {.on_head = ignore_head};
    for (int extra = 0; extra < 2; extra++) {
        for (int long_line = 0; long_line < 2; long_line++) {
            struct http_proxy_answer answer;
            struct err err = ERR_INIT;
            size_t used;
            _cleanup_buf_ struct buf text;
            buf_init(&text, 1 << 20);
            buf_append_str(&text, "HTTP/1.1 204 OK\r\n");
            for (int i = 0; !long_line && i < LINES + extra; i++)
                buf_append_str(&text, "a: b\r\n");
            if (long_line)
                buf_append_str(&text, "a: ");
            for (int i = 0; long_line && i < BYTES - 3 + extra; i++)
                buf_append_char(&text, 'x');
            buf_append_str(&text, long_line ? "\r\n\r\n" : "\r\n");
            http_proxy_answer_init(&answer, false, &handler, NULL);
            int result = http_proxy_answer_feed(&answer, text.data, text.size, &used, &err);
            assert_int_equal(result, extra ? -ERR_TOO_LARGE : 0);
            assert_int_equal(answer.whole, !extra);
            http_proxy_answer_release(&answer);
        }
    }
}

/* Only addresses with the port are found, wherever the search begins. */
static void addresses_are_picked_in_turn(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    static const char text[] = "[{\"addresses\":[{\"ip\":\"1\"}],\"ports\":[{\"name\":\"a\","
                               "\"port\":1}]},{\"ports\":[{\"name\":\"b\",\"port\":2}]},"
                               "{\"addresses\":[{\"ip\":\"2\"},{\"ip\":\"3\"}],\"ports\":[{"
                               "\"name\":\"b\",\"port\":3}]}]";
    struct json *subsets;
    assert_int_equal(json_parse(arena, text, strlen(text), NULL, &subsets, NULL), 0);
    bool seen[4] = {0};
    for (uint64_t seed = 0; seed < 12; seed++) {
        const struct json *address;
        int port;
        assert_int_equal(http_proxy_pick_endpoint(subsets, "s", "b", seed, &address, &port, NULL),
                         0);
        assert_int_equal(port, 3);
        seen[atoi(json_get_string(address, "ip", "0"))] = true;
    }
    assert_true(!seen[1] && seen[2] && seen[3]);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_request_is_forwarded_and_the_response_returned),
        TEST(a_header_line_may_be_empty),
        TEST(a_body_and_its_method_are_forwarded),
        TEST(a_head_response_has_no_body),
        TEST(a_protocol_upgrade_is_forwarded),
        TEST(a_tunnel_ends_with_the_pod),
        TEST(a_pod_that_does_not_respond_is_unavailable),
        TEST(a_truncated_response_closes_the_connection),
        TEST(a_disconnected_client_ends_the_pod_connection),
        TEST(a_disconnect_cancels_the_connect),
        TEST(a_client_that_does_not_read_pauses_the_pod),
        TEST(all_connections_end_with_the_server),
        TEST(missing_targets_get_the_messages_of_kubernetes),
        cmocka_unit_test(a_header_has_limits),
        cmocka_unit_test(addresses_are_picked_in_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
