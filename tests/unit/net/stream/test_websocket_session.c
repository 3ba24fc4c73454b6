/* Tests the server's side of a WebSocket session, and the stream inside one, on a stream in memory.
 * The test plays the client, and writes frames with the same codec. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "loop/sim/sim_loop.h"
#include "memory_stream.h"
#include "net/stream/websocket.h"
#include "net/stream/websocket_session.h"
#include "net/stream/websocket_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct world {
    struct loop *loop;
    struct memory_stream *peer;
    struct websocket_session *session;
    struct stream *stream; /* instead of the session, in the tests of the stream inside one */
    struct websocket_reader reader;
    struct buf log; /* the callbacks that the owner got */
    bool line_closed, pause_at_data;
};

/* ---- the owner ------------------------------------------------------------------------------- */

static void on_open(void *context)
{
    buf_append_str(&((struct world *)context)->log, "open ");
}

static void on_data(void *context, const char *data, size_t size, bool first, bool last)
{
    struct world *world = context;
    buf_append_str(&world->log, first ? "[" : "");
    buf_append(&world->log, data, size);
    buf_append_str(&world->log, last ? "] " : "");
    if (world->pause_at_data)
        websocket_session_pause(world->session, true);
}

static void on_bytes(void *context, const char *data, size_t size)
{
    struct world *world = context;
    buf_append(&world->log, data, size);
    buf_append_char(&world->log, ' ');
    if (world->pause_at_data)
        stream_pause(world->stream, true);
}

static void on_drain(void *context)
{
    buf_append_str(&((struct world *)context)->log, "sent ");
}

static void on_end(void *context, const struct err *err)
{
    buf_printf(&((struct world *)context)->log, "end%s%s ", err ? ": " : "",
               err ? err->message : "");
}

static void on_closed(void *context)
{
    struct world *world = context;
    buf_append_str(&world->log, "closed ");
    world->session = NULL;
    world->stream = NULL;
}

static const struct websocket_session_handler HANDLER = {on_open, on_data, on_drain, on_end,
                                                         on_closed};
static const struct stream_handler STREAM_HANDLER = {on_open, on_bytes, on_drain, on_end,
                                                     on_closed};

/* ---- fixture --------------------------------------------------------------------------------- */

static void run(struct world *world)
{
    sim_loop_run_for(world->loop, 10);
}

static struct world *new_world(void)
{
    struct world *world = mem_zalloc(sizeof(*world));
    world->loop = sim_loop_new(5, 1700000000000);
    world->peer = memory_stream_new(world->loop, &world->line_closed);
    websocket_reader_init(&world->reader, WEBSOCKET_SERVER, UINT64_MAX);
    buf_init(&world->log, 1 << 24);
    return world;
}

static int setup(void **state)
{
    struct world *world = new_world();
    world->session = websocket_session_new(world->loop, &world->peer->stream, &HANDLER, world);
    run(world);
    buf_clear(&world->log);
    *state = world;
    return 0;
}

static int setup_stream(void **state)
{
    struct world *world = new_world();
    world->stream = websocket_stream_new(world->loop, &world->peer->stream);
    stream_set_stall_timeout(world->stream, 1000);
    stream_start(world->stream, &STREAM_HANDLER, world);
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;
    if (!world->line_closed) {
        memory_stream_hold(world->peer, false);
        memory_stream_send_end(world->peer);
    }
    run(world);
    assert_true(world->line_closed);
    assert_null(world->session);
    assert_null(world->stream);
    buf_release(&world->log);
    loop_free(world->loop);
    free(world);
    return 0;
}

/* ---- the client ------------------------------------------------------------------------------ */

static void say(struct world *world, enum websocket_opcode opcode, bool fin, const char *text,
                size_t size)
{
    static const unsigned char MASK[] = {1, 2, 3, 4};
    char head[WEBSOCKET_HEAD_MAX], *body = mem_alloc(size + 1);
    memory_stream_send(world->peer, head, websocket_write_head(head, opcode, fin, size, MASK));
    websocket_mask(MASK, 0, text, size, body);
    memory_stream_send(world->peer, body, size);
    free(body);
}

static void say_text(struct world *world, enum websocket_opcode opcode, const char *text)
{
    say(world, opcode, true, text, strlen(text));
}

/* Returns the frames that the client got since the last call. */
static const char *heard(struct world *world)
{
    static char text[4096];
    char *end = text;
    struct buf *out = &world->peer->out;
    const char *at = out->data;
    size_t left = out->size, used;
    struct websocket_piece piece;
    *end = '\0';
    while (left &&
           websocket_read(&world->reader, at, left, &used, &piece, NULL) == WEBSOCKET_PIECE) {
        size_t room = sizeof(text) - (size_t)(end - text);
        if (piece.opcode == WEBSOCKET_CLOSE)
            end += snprintf(end, room, "close %d %.*s ", piece.code, (int)piece.size, piece.data);
        else
            end += snprintf(end, room, "%s(%.*s) ",
                            piece.opcode == WEBSOCKET_BINARY ? ""
                            : piece.opcode == WEBSOCKET_PONG ? "pong"
                            : piece.opcode == WEBSOCKET_TEXT ? "text"
                                                             : "?",
                            (int)piece.size, piece.data);
        at += used;
        left -= used;
    }
    if (!world->line_closed) {
        buf_clear(out);
        world->peer->taken = 0;
    }
    return text;
}

static void assert_log(struct world *world, const char *expected)
{
    assert_string_equal(world->log.data, expected);
    buf_clear(&world->log);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void messages_are_sent_and_received(void **state)
{
    struct world *world = *state;
    say_text(world, WEBSOCKET_BINARY, "one");
    say(world, WEBSOCKET_BINARY, false, "two ", 4);
    say_text(world, WEBSOCKET_PING, "alive?");
    say(world, WEBSOCKET_CONTINUATION, true, "three", 5);
    say_text(world, WEBSOCKET_BINARY, "");
    say_text(world, WEBSOCKET_PONG, "unasked");
    run(world);
    assert_string_equal(heard(world), "pong(alive?) ");
    assert_log(world, "[one] [two three] [] sent ");
    websocket_session_write(world->session, "four", 4);
    websocket_session_write(world->session, "", 0);
    assert_int_equal(websocket_session_pending(world->session), 8);
    run(world);
    assert_string_equal(heard(world), "(four) () ");
    assert_log(world, "sent ");
    assert_int_equal(websocket_session_pending(world->session), 0);
}

static void a_pause_also_holds_received_messages(void **state)
{
    struct world *world = *state;
    world->pause_at_data = true;
    say_text(world, WEBSOCKET_BINARY, "one");
    say_text(world, WEBSOCKET_BINARY, "two");
    run(world);
    assert_log(world, "[one] ");
    assert_true(world->peer->paused);
    say_text(world, WEBSOCKET_BINARY, "three");
    run(world);
    assert_log(world, "");
    websocket_session_pause(world->session, false);
    run(world);
    assert_log(world, "[two] ");
    assert_true(world->peer->paused);
    world->pause_at_data = false;
    websocket_session_pause(world->session, false);
    run(world);
    assert_log(world, "[three] ");
    assert_false(world->peer->paused);
}

static void the_client_closes_the_session(void **state)
{
    struct world *world = *state;
    memory_stream_hold(world->peer, true); /* keeps the frames in the buffer */
    say_text(world, WEBSOCKET_CLOSE, "\x03\xe9sleep");
    say_text(world, WEBSOCKET_BINARY, "after it");
    run(world);
    assert_string_equal(heard(world), "close 1001  "); /* the client's code is echoed */
    assert_log(world, "end ");
    memory_stream_hold(world->peer, false);
    run(world);
    assert_log(world, "closed ");
}

static void a_close_frame_without_a_code_is_echoed_without_a_code(void **state)
{
    struct world *world = *state;
    memory_stream_hold(world->peer, true);
    say_text(world, WEBSOCKET_CLOSE, "");
    run(world);
    assert_string_equal(heard(world), "close 1005  ");
    assert_log(world, "end ");
}

static void the_server_closes_the_session(void **state)
{
    struct world *world = *state;
    memory_stream_hold(world->peer, true);
    websocket_session_write(world->session, "last", 4);
    websocket_session_close(world->session, WEBSOCKET_NORMAL, "done");
    websocket_session_close(world->session, WEBSOCKET_NORMAL, "twice is fine");
    websocket_session_write(world->session, "nothing", 7);
    say_text(world, WEBSOCKET_BINARY, "not heard any more");
    say_text(world, WEBSOCKET_CLOSE, "\x03\xe8");
    run(world);
    assert_string_equal(heard(world), "(last) close 1000 done ");
    assert_log(world, "");
    memory_stream_hold(world->peer, false);
    run(world);
    assert_log(world, "closed ");
}

static void a_protocol_violation_gets_a_close_frame(void **state)
{
    struct world *world = *state;
    memory_stream_hold(world->peer, true);
    memory_stream_send(world->peer, "\x82\x01x", 3);
    run(world);
    assert_string_equal(heard(world), "close 1002 websocket: a client's frame is not masked ");
    assert_log(world, "end: websocket: a client's frame is not masked ");
}

static void text_messages_are_read_like_binary_messages(void **state)
{
    struct world *world = *state;
    say_text(world, WEBSOCKET_TEXT, "hello");
    say_text(world, WEBSOCKET_BINARY, "world");
    run(world);
    assert_log(world, "[hello] [world] ");
    websocket_session_write(world->session, "bytes", 5);
    run(world);
    assert_string_equal(heard(world), "(bytes) ");
    websocket_session_use_text(world->session);
    websocket_session_write(world->session, "text", 4);
    run(world);
    assert_string_equal(heard(world), "text(text) ");
}

/* A client that pings and never reads must not make our memory grow. */
static void pings_are_not_answered_without_limit(void **state)
{
    enum { PINGS = 20000 };
    struct world *world = *state;
    char payload[WEBSOCKET_CONTROL_MAX] = {0};
    memory_stream_hold(world->peer, true);
    for (int i = 0; i < PINGS; i++) {
        say(world, WEBSOCKET_PING, true, payload, sizeof(payload));
        if (i % 1000 == 0)
            run(world);
    }
    run(world);
    assert_in_range(world->peer->out.size, 1 << 20, (1 << 20) + 200);
}

static void the_connection_ends_without_a_close_frame(void **state)
{
    struct world *world = *state;
    memory_stream_send_end(world->peer);
    run(world);
    assert_log(world, "end closed ");
}

static void the_connection_breaks(void **state)
{
    struct world *world = *state;
    memory_stream_break(world->peer);
    run(world);
    assert_log(world, "end: peer left closed ");
}

static void a_disconnect_is_detected_behind_held_messages(void **state)
{
    struct world *world = *state;
    world->pause_at_data = true;
    say_text(world, WEBSOCKET_BINARY, "one");
    say_text(world, WEBSOCKET_BINARY, "two");
    run(world);
    assert_log(world, "[one] ");
    memory_stream_send_end(world->peer);
    run(world);
    assert_log(world, "end closed ");
}

static void an_abort_sends_no_close_frame(void **state)
{
    struct world *world = *state;
    world->pause_at_data = true;
    say_text(world, WEBSOCKET_BINARY, "one");
    say_text(world, WEBSOCKET_BINARY, "two");
    run(world);
    websocket_session_pause(world->session, false); /* the pending frames are delivered now */
    websocket_session_abort(world->session);
    run(world);
    assert_log(world, "[one] closed ");
}

static void the_inner_stream_has_no_message_boundaries(void **state)
{
    struct world *world = *state;
    say(world, WEBSOCKET_BINARY, false, "ab", 2);
    say(world, WEBSOCKET_CONTINUATION, true, "", 0);
    say_text(world, WEBSOCKET_BINARY, "");
    say_text(world, WEBSOCKET_BINARY, "cd");
    run(world);
    assert_log(world, "open ab cd ");
    stream_write(world->stream, "answer", 6);
    assert_int_equal(stream_pending(world->stream), 8);
    run(world);
    assert_string_equal(heard(world), "(answer) ");
    assert_log(world, "sent ");
    world->pause_at_data = true;
    say_text(world, WEBSOCKET_BINARY, "ef");
    say_text(world, WEBSOCKET_BINARY, "gh");
    run(world);
    assert_log(world, "ef ");
    stream_pause(world->stream, false);
    run(world);
    assert_log(world, "gh ");
    stream_pause(world->stream, false);
    memory_stream_hold(world->peer, true);
    stream_shut(world->stream);
    stream_write(world->stream, "too late", 8);
    stream_finish(world->stream);
    run(world);
    assert_string_equal(heard(world), "close 1000  ");
    memory_stream_hold(world->peer, false);
    run(world);
    assert_log(world, "closed ");
}

static void the_inner_stream_ends_with_its_session(void **state)
{
    struct world *world = *state;
    run(world);
    say_text(world, WEBSOCKET_CLOSE, "\x03\xe8");
    run(world);
    assert_log(world, "open end closed ");
}

static void the_inner_stream_closes_at_once(void **state)
{
    struct world *world = *state;
    run(world);
    stream_close(world->stream);
    run(world);
    assert_log(world, "open closed ");
}

int main(void)
{
#define TEST(test)        cmocka_unit_test_setup_teardown(test, setup, teardown)
#define STREAM_TEST(test) cmocka_unit_test_setup_teardown(test, setup_stream, teardown)
    const struct CMUnitTest tests[] = {
        TEST(messages_are_sent_and_received),
        TEST(a_pause_also_holds_received_messages),
        TEST(the_client_closes_the_session),
        TEST(a_close_frame_without_a_code_is_echoed_without_a_code),
        TEST(the_server_closes_the_session),
        TEST(a_protocol_violation_gets_a_close_frame),
        TEST(text_messages_are_read_like_binary_messages),
        TEST(pings_are_not_answered_without_limit),
        TEST(the_connection_ends_without_a_close_frame),
        TEST(the_connection_breaks),
        TEST(a_disconnect_is_detected_behind_held_messages),
        TEST(an_abort_sends_no_close_frame),
        STREAM_TEST(the_inner_stream_has_no_message_boundaries),
        STREAM_TEST(the_inner_stream_ends_with_its_session),
        STREAM_TEST(the_inner_stream_closes_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
