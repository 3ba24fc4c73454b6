/* Tests port forwarding in WebSocket channels, as Kubernetes' Python client uses it: from the
 * request to the pod's bytes, on streams in memory and in virtual time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "forward_world.h"

#include "base/mem.h"
#include "loop/sim/sim_loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int ask_channels(struct world *world, const char *ports, const char *protocol)
{
    char path[256], headers[512];
    snprintf(path, sizeof(path), PATH "%s", ports);
    snprintf(headers, sizeof(headers), WEBSOCKET "Sec-WebSocket-Protocol: %s\r\n", protocol);
    return ask(world, "GET", path, headers);
}

static void send_message(struct world *world, const char *data, size_t size)
{
    char head[WEBSOCKET_HEAD_MAX];
    _cleanup_free_ char *body = mem_alloc(size + 1);
    websocket_mask(MASK, 0, data, size, body);
    memory_stream_send(world->line.peer, head,
                       websocket_write_head(head, WEBSOCKET_BINARY, true, size, MASK));
    memory_stream_send(world->line.peer, body, size);
    run(world);
}
#define SEND(world, literal) send_message(world, literal, sizeof(literal) - 1)

/* Returns the received messages: "0:bytes 1:error close ". */
static const char *heard_channels(struct world *world)
{
    static char text[4096];
    char *end = text;
    const struct buf *out = &world->line.peer->out;
    struct websocket_piece piece;
    text[0] = '\0';
    for (size_t at = 0, used; at < out->size; at += used) {
        size_t room = sizeof(text) - (size_t)(end - text);
        assert_int_equal(
            websocket_read(&world->tunnel, out->data + at, out->size - at, &used, &piece, NULL),
            WEBSOCKET_PIECE);
        if (piece.opcode == WEBSOCKET_CLOSE)
            end += snprintf(end, room, "close %d ", piece.code);
        else
            end +=
                snprintf(end, room, "%d:%.*s ", piece.data[0], (int)piece.size - 1, piece.data + 1);
    }
    api_line_clear(&world->line);
    return text;
}

/* Requests two ports, 0x4241 ("AB" on the wire) and 0x4443. */
static void open_channels(struct world *world, const char *protocol)
{
    assert_int_equal(ask_channels(world, "?ports=16961,17475", protocol), 101);
    struct buf *out = &world->line.peer->out;
    const char *frames = memmem(out->data, out->size, "\r\n\r\n", 4);
    assert_non_null(frames);
    buf_consume(out, (size_t)(frames + 4 - out->data));
    websocket_reader_init(&world->tunnel, WEBSOCKET_SERVER, 1 << 20);
    assert_string_equal(heard_channels(world), "0:AB 1:AB 2:CD 3:CD ");
    assert_int_equal(world->connect_count, 2);
    assert_int_equal(world->connects[0].port, 0x4241);
    assert_int_equal(world->connects[1].port, 0x4443);
}

static void each_requested_port_has_two_channels(void **state)
{
    struct world *world = *state;
    struct memory_stream *line = world->line.peer;
    struct err err;
    open_channels(world, "v4.channel.k8s.io");
    SEND(world, "\0early ");
    connected(world, 0);
    SEND(world, "\0question");
    SEND(world, "\1nothing is expected here");
    SEND(world, "\7nor here");
    SEND(world, "\xff\0"); /* v4 has no such message */
    send_message(world, "", 0);
    assert_string_equal(world->pod->out.data, "early question");
    assert_false(world->pod->shut);
    memory_stream_send(world->pod, "answer", 6);
    run(world);
    assert_string_equal(heard_channels(world), "0:answer ");
    err_set(&err, ERR_UNAVAILABLE, "refused");
    world->connects[1].done(world->connects[1].context, NULL, &err);
    run(world);
    const char *text = heard_channels(world);
    assert_non_null(strstr(text, "3:error forwarding port 17475 to pod x, uid "));
    SEND(world, "\2to nobody");
    assert_false(world->line.peer_closed);
    /* The session ends with its last connection. */
    memory_stream_hold(line, true);
    memory_stream_send_end(world->pod);
    run(world);
    assert_true(world->pod_closed);
    assert_string_equal(heard_channels(world), "close 1000 ");
    memory_stream_hold(line, false);
    run(world);
    assert_true(world->line.peer_closed);
}

static void a_channel_of_v5_can_be_ended(void **state)
{
    struct world *world = *state;
    open_channels(world, "v5.channel.k8s.io, v4.channel.k8s.io");
    connected(world, 0);
    SEND(world, "\0question");
    SEND(world, "\xff\0");
    assert_true(world->pod->shut);
    assert_false(world->pod_closed);
    memory_stream_send(world->pod, "answer", 6);
    run(world);
    assert_string_equal(heard_channels(world), "0:answer ");
    memory_stream_send_end(world->pod);
    run(world);
    assert_true(world->pod_closed);
}

static void a_client_of_channels_may_disconnect(void **state)
{
    struct world *world = *state;
    open_channels(world, "v4.channel.k8s.io");
    connected(world, 0);
    memory_stream_send_end(world->line.peer);
    run(world);
    assert_true(world->pod_closed);
    assert_true(world->connects[1].canceled);
    assert_true(world->line.peer_closed);
}

enum { PIECE_SIZE = 60000 };

/* Sends this many pieces to a pod that does not read. */
static void fill_held_pod(struct world *world, int count)
{
    _cleanup_free_ char *piece = mem_zalloc(PIECE_SIZE + 1);
    open_channels(world, "v4.channel.k8s.io");
    connected(world, 0);
    memory_stream_hold(world->pod, true);
    for (int i = 0; i < count; i++)
        send_message(world, piece, PIECE_SIZE + 1);
}

static void a_pod_that_does_not_read_pauses_the_channels(void **state)
{
    enum { COUNT = 50 };
    struct world *world = *state;
    fill_held_pod(world, COUNT);
    assert_true(world->pod->out.size < 2 * 1024 * 1024);
    memory_stream_hold(world->pod, false);
    run(world);
    assert_int_equal(world->pod->out.size, COUNT * PIECE_SIZE);
}

/* The server closes the session. Its connections to the pod outlive the client's connection. The
 * pod does not read from one of them, and the other is not connected yet. */
static void the_channels_of_a_pod_end_with_it(void **state)
{
    struct world *world = *state;
    fill_held_pod(world, 30);
    end_pod(world);
    assert_false(world->line.peer_closed);
    struct memory_stream *line = world->line.peer;
    memory_stream_hold(line, true);
    sim_loop_run_for(world->line.loop, 10 * 1000);
    assert_string_equal(heard_channels(world), "close 1000 ");
    memory_stream_hold(line, false);
    run(world);
    assert_true(world->line.peer_closed);
    assert_true(world->connects[1].canceled);
    assert_true(world->pod_closed);
}

static void channels_need_ports(void **state)
{
    struct world *world = *state;
    static const struct {
        const char *query, *words;
    } rows[] = {
        {"", "query parameter \\\"ports\\\" is required"},
        {"?ports=", "unable to parse \\\"\\\" as a port"},
        {"?ports=80,x", "unable to parse \\\"x\\\" as a port"},
        {"?ports=80&ports=0", "unable to parse \\\"0\\\" as a port"},
        {"?ports=65536", "unable to parse"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        assert_int_equal(ask_channels(world, rows[i].query, "v4.channel.k8s.io"), 400);
        if (!strstr(world->line.peer->out.data, rows[i].words))
            fail_msg("no '%s' in: %s", rows[i].words, world->line.peer->out.data);
    }
    _cleanup_buf_ struct buf many;
    buf_init(&many, 4096);
    buf_append_str(&many, "?ports=1");
    for (int i = 0; i < 127; i++)
        buf_append_str(&many, ",1");
    char *path = mem_printf(PATH "%s", many.data);
    assert_int_equal(
        ask(world, "GET", path, WEBSOCKET "Sec-WebSocket-Protocol: v4.channel.k8s.io\r\n"), 400);
    assert_non_null(strstr(world->line.peer->out.data, "at most 127 ports"));
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_requested_port_has_two_channels),
        TEST(a_channel_of_v5_can_be_ended),
        TEST(a_client_of_channels_may_disconnect),
        TEST(a_pod_that_does_not_read_pauses_the_channels),
        TEST(the_channels_of_a_pod_end_with_it),
        TEST(channels_need_ports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
