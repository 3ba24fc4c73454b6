/* Tests port forwarding over SPDY, also within WebSocket, from the request to the pod's bytes. The
 * test plays kubectl on one side and the pod on the other, both on streams in memory and in virtual
 * time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "forward_world.h"

#include "loop/sim/sim_loop.h"

#include <stdio.h>
#include <string.h>

/* ---- kubectl --------------------------------------------------------------------------------- */

static void upgrade(struct world *world)
{
    assert_int_equal(ask(world, "POST", PATH, OFFER V1), 101);
    assert_non_null(
        strstr(world->line.peer->out.data, "X-Stream-Protocol-Version: portforward.k8s.io\r\n"));
    api_line_clear(&world->line);
}

/* Sends bytes. In a tunnel they are split into small messages at arbitrary positions. */
static void send_bytes(struct world *world, const char *data, size_t size)
{
    enum { CUT = 5 };
    if (!world->tunnels) {
        memory_stream_send(world->line.peer, data, size);
        return;
    }
    for (size_t at = 0; at < size; at += CUT) {
        char head[WEBSOCKET_HEAD_MAX], body[CUT];
        size_t piece = size - at < CUT ? size - at : CUT;
        websocket_mask(MASK, 0, data + at, piece, body);
        memory_stream_send(world->line.peer, head,
                           websocket_write_head(head, WEBSOCKET_BINARY, true, piece, MASK));
        memory_stream_send(world->line.peer, body, piece);
    }
}

/* Receives the bytes that arrived, through a tunnel or directly. */
static void receive_bytes(struct world *world, struct buf *ret)
{
    const struct buf *out = &world->line.peer->out;
    struct websocket_piece piece;
    if (!world->tunnels)
        buf_append(ret, out->data, out->size);
    for (size_t at = 0, used; world->tunnels && at < out->size; at += used) {
        assert_int_equal(
            websocket_read(&world->tunnel, out->data + at, out->size - at, &used, &piece, NULL),
            WEBSOCKET_PIECE);
        assert_int_equal(piece.opcode, WEBSOCKET_BINARY);
        buf_append(ret, piece.data, piece.size);
    }
    api_line_clear(&world->line);
}

static void open_stream(struct world *world, uint32_t id, const char *type, const char *port,
                        const char *request_id)
{
    struct http_header number = {"requestid", request_id, NULL};
    struct http_header where = {"port", port, request_id ? &number : NULL};
    const struct http_header what = {"streamtype", type, &where};
    _cleanup_buf_ struct buf frame;
    buf_init(&frame, 4096);
    spdy_write_syn_stream(&world->writer, &frame, id, false, &what);
    send_bytes(world, frame.data, frame.size);
}

static void send_data(struct world *world, uint32_t id, const char *text, bool fin)
{
    char head[SPDY_HEAD_SIZE];
    spdy_write_data_head(head, id, fin, strlen(text));
    send_bytes(world, head, sizeof(head));
    send_bytes(world, text, strlen(text));
    run(world);
}

/* Opens a connection as kubectl does: the error stream, ended at once, then the data stream. */
static void open_pair(struct world *world, uint32_t id, const char *port, const char *request_id)
{
    open_stream(world, id, "error", port, request_id);
    send_data(world, id, "", true);
    open_stream(world, id + 2, "data", port, request_id);
    run(world);
}

static const char *heard(struct world *world)
{
    static char text[4096];
    char *end = text;
    _cleanup_buf_ struct buf out;
    buf_init(&out, 1 << 26);
    receive_bytes(world, &out);
    const char *at = out.data;
    size_t left = out.size, used;
    struct spdy_frame frame;
    *end = '\0';
    while (left && spdy_read(&world->reader, at, left, &used, &frame, NULL) == SPDY_FRAME) {
        size_t room = sizeof(text) - (size_t)(end - text);
        if (frame.type == SPDY_DATA)
            end += snprintf(end, room, "%u:%.*s%s ", (unsigned)frame.stream, (int)frame.size,
                            frame.data, frame.fin ? "." : "");
        else if (frame.type != SPDY_SYN_REPLY)
            end += snprintf(end, room, "%s %u ",
                            frame.type == SPDY_RST_STREAM ? "reset"
                            : frame.type == SPDY_GOAWAY   ? "goaway"
                                                          : "?",
                            (unsigned)frame.stream);
        at += used;
        left -= used;
    }
    return text;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void requests_without_upgrade_are_rejected(void **state)
{
    struct world *world = *state;
    assert_int_equal(ask(world, "POST", PATH, ""), 400);
    assert_int_equal(ask(world, "GET", PATH, ""), 400);
    assert_non_null(
        strstr(world->line.peer->out.data, "'Upgrade: SPDY/3.1' or 'Upgrade: websocket'"));
    /* kubectl tries SPDY after this response. */
    assert_int_equal(ask(world, "GET", PATH, WEBSOCKET "Sec-WebSocket-Protocol: v4.test\r\n"), 400);
    assert_non_null(
        strstr(world->line.peer->out.data, "server accepts [SPDY/3.1+portforward.k8s.io v5"));
    assert_int_equal(
        ask(world, "POST", PATH, OFFER "X-Stream-Protocol-Version: v4.channel.k8s.io\r\n"), 403);
    assert_int_equal(ask(world, "POST", "/api/v1/namespaces/default/pods/y/portforward", OFFER V1),
                     404);
    set_phase(world, "Succeeded");
    assert_int_equal(ask(world, "POST", PATH, OFFER V1), 400);
    assert_non_null(strstr(world->line.peer->out.data, "Current status=Succeeded"));
}

static void bytes_go_both_ways_until_each_side_ends(void **state)
{
    struct world *world = *state;
    upgrade(world);
    open_pair(world, 1, "8987", "0");
    assert_int_equal(world->connect_count, 1);
    assert_int_equal(world->connects[0].port, 8987);
    send_data(world, 3, "early ", false); /* before the pod is connected */
    connected(world, 0);
    send_data(world, 3, "question", true);
    assert_string_equal(world->pod->out.data, "early question");
    assert_true(world->pod->shut);
    memory_stream_send(world->pod, "answer", 6);
    run(world);
    assert_string_equal(heard(world), "3:answer ");
    memory_stream_send_end(world->pod);
    run(world);
    assert_string_equal(heard(world), "1:. 3:. ");
    assert_true(world->pod_closed);
    assert_false(world->line.peer_closed); /* stays open for the next connection */
}

/* Like kubectl since 1.31: the same SPDY frames, in messages split at any position. */
static void spdy_is_spoken_within_websocket(void **state)
{
    struct world *world = *state;
    assert_int_equal(ask(world, "GET", PATH,
                         WEBSOCKET "Sec-WebSocket-Protocol: SPDY/3.1+portforward.k8s.io\r\n"),
                     101);
    assert_non_null(strstr(world->line.peer->out.data, "Upgrade: websocket\r\n"));
    assert_non_null(strstr(world->line.peer->out.data,
                           "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
                           "Sec-WebSocket-Protocol: SPDY/3.1+portforward.k8s.io\r\n"));
    struct memory_stream *line = world->line.peer;
    world->tunnels = true;
    websocket_reader_init(&world->tunnel, WEBSOCKET_SERVER, 1 << 20);
    buf_clear(&line->out);
    line->taken = 0;
    open_pair(world, 1, "8987", "0");
    assert_int_equal(world->connect_count, 1);
    connected(world, 0);
    send_data(world, 3, "question", false);
    assert_string_equal(world->pod->out.data, "question");
    memory_stream_send(world->pod, "answer", 6);
    run(world);
    assert_string_equal(heard(world), "3:answer ");
    memory_stream_hold(line, true);
    char head[WEBSOCKET_HEAD_MAX];
    memory_stream_send(line, head, websocket_write_head(head, WEBSOCKET_CLOSE, true, 0, MASK));
    run(world);
    assert_true(world->pod_closed);
    assert_memory_equal(line->out.data, "\x88", 2); /* a close message without a code */
    memory_stream_hold(line, false);
    run(world);
    assert_true(world->line.peer_closed);
}

static void the_pod_may_close_first(void **state)
{
    struct world *world = *state;
    upgrade(world);
    open_pair(world, 1, "80", "7");
    connected(world, 0);
    memory_stream_send_end(world->pod);
    run(world);
    assert_string_equal(heard(world), "1:. 3:. ");
    assert_false(world->pod_closed);
    send_data(world, 3, "it still listens", false);
    assert_string_equal(world->pod->out.data, "it still listens");
    send_data(world, 3, "", true);
    assert_true(world->pod_closed);
    assert_string_equal(heard(world), "");
}

static void a_failure_is_reported_on_the_error_stream(void **state)
{
    struct world *world = *state;
    upgrade(world);
    open_pair(world, 1, "9999", "0");
    struct err err;
    err_set(&err, ERR_UNAVAILABLE, "cannot connect to localhost:9999 in the pod: refused");
    world->connects[0].done(world->connects[0].context, NULL, &err);
    run(world);
    const char *text = heard(world);
    assert_non_null(strstr(text, "1:error forwarding port 9999 to pod x, uid "));
    assert_non_null(strstr(text, ": cannot connect to localhost:9999 in the pod: refused "));
    assert_non_null(strstr(text, " 1:. 3:. "));
    send_data(world, 3, "to nobody", true);
    assert_string_equal(heard(world), "");
}

static void kubectl_resets_streams(void **state)
{
    struct world *world = *state;
    _cleanup_buf_ struct buf frame;
    buf_init(&frame, 4096);
    upgrade(world);
    open_pair(world, 1, "80", "0");
    open_pair(world, 5, "80", "1");
    connected(world, 0);
    spdy_write_rst_stream(&frame, 3, SPDY_CANCEL);
    spdy_write_rst_stream(&frame, 7, SPDY_CANCEL);
    memory_stream_send(world->line.peer, frame.data, frame.size);
    run(world);
    assert_true(world->pod_closed);
    assert_true(world->connects[1].canceled);
    assert_string_equal(heard(world), "1:. 5:. ");
}

static void invalid_streams_are_rejected(void **state)
{
    struct world *world = *state;
    upgrade(world);
    open_stream(world, 1, "resize", "80", "0");
    open_stream(world, 3, "data", "0", "0");
    open_stream(world, 5, "data", "65536", "0");
    run(world);
    assert_string_equal(heard(world), "reset 1 reset 3 reset 5 ");
    /* A single stream of a pair does not wait forever. */
    open_stream(world, 7, "data", "80", "0");
    sim_loop_run_for(world->line.loop, 40 * 1000);
    assert_string_equal(heard(world), "reset 7 ");
    assert_int_equal(world->connect_count, 0);
    /* Some clients do not send the header. */
    open_stream(world, 9, "error", "80", NULL);
    open_stream(world, 11, "data", "80", NULL);
    run(world);
    assert_int_equal(world->connect_count, 1);
}

static void a_pod_that_does_not_read_pauses_the_session(void **state)
{
    struct world *world = *state;
    char piece[60001];
    memset(piece, 'x', sizeof(piece) - 1);
    piece[sizeof(piece) - 1] = '\0';
    upgrade(world);
    open_pair(world, 1, "80", "0");
    connected(world, 0);
    memory_stream_hold(world->pod, true);
    for (int i = 0; i < 50; i++)
        send_data(world, 3, piece, false);
    assert_true(world->pod->out.size < 2 * 1024 * 1024);
    memory_stream_hold(world->pod, false);
    run(world);
    assert_int_equal(world->pod->out.size, 50 * (sizeof(piece) - 1));
}

static void a_client_that_does_not_read_pauses_the_pod(void **state)
{
    struct world *world = *state;
    char piece[60000] = "";
    upgrade(world);
    open_pair(world, 1, "80", "0");
    connected(world, 0);
    memory_stream_hold(world->line.peer, true);
    world->pod->piece = sizeof(piece);
    for (int i = 0; i < 50; i++)
        memory_stream_send(world->pod, piece, sizeof(piece));
    run(world);
    assert_true(world->line.peer->out.size < 2 * 1024 * 1024);
    memory_stream_hold(world->line.peer, false);
    run(world);
    assert_true(world->line.peer->out.size >= 50 * sizeof(piece));
}

static void the_session_ends_with_the_pod(void **state)
{
    struct world *world = *state;
    struct memory_stream *line = world->line.peer;
    bool *line_closed = &world->line.peer_closed;
    upgrade(world);
    open_pair(world, 1, "80", "0");
    connected(world, 0);
    heard(world);
    end_pod(world);
    memory_stream_send(world->pod, "last words", 10); /* bytes in flight */
    run(world);
    assert_string_equal(heard(world), "3:last words ");
    assert_false(*line_closed);
    memory_stream_hold(line, true);
    sim_loop_run_for(world->line.loop, 10 * 1000);
    assert_string_equal(heard(world), "goaway 3 ");
    memory_stream_hold(line, false);
    run(world);
    assert_true(*line_closed);
    assert_true(world->pod_closed);
}

static void all_connections_end_with_the_server(void **state)
{
    struct world *world = *state;
    upgrade(world);
    open_pair(world, 1, "80", "0");
    open_pair(world, 5, "80", "1");
    connected(world, 0);
    http_connection_close(
        LIST_FIRST(&world->line.service.connections, struct http_connection, link));
    assert_true(world->connects[1].canceled);
    run(world);
    assert_true(world->pod_closed);
    assert_true(world->line.peer_closed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(requests_without_upgrade_are_rejected),
        TEST(bytes_go_both_ways_until_each_side_ends),
        TEST(spdy_is_spoken_within_websocket),
        TEST(the_pod_may_close_first),
        TEST(a_failure_is_reported_on_the_error_stream),
        TEST(kubectl_resets_streams),
        TEST(invalid_streams_are_rejected),
        TEST(a_pod_that_does_not_read_pauses_the_session),
        TEST(a_client_that_does_not_read_pauses_the_pod),
        TEST(the_session_ends_with_the_pod),
        TEST(all_connections_end_with_the_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
