/* Tests the server's side of a session on a stream in memory. The test plays the peer, and writes
 * frames with the same codec. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "loop/sim/sim_loop.h"
#include "memory_stream.h"
#include "net/stream/spdy.h"
#include "net/stream/spdy_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct world {
    struct loop *loop;
    struct memory_stream *peer;
    struct spdy_session *session;
    struct spdy_writer writer;
    struct spdy_reader reader;
    struct buf log; /* the callbacks that the owner got */
    struct spdy_stream *streams[8];
    int drained;
    bool line_closed, refuse, free_at_once;
};

struct owner {
    struct world *world;
    int number;
};
static struct owner owners[8];

static void on_data(void *context, const char *data, size_t size)
{
    struct owner *owner = context;
    buf_printf(&owner->world->log, "%d:", owner->number);
    buf_append(&owner->world->log, data, size);
    buf_append_char(&owner->world->log, ' ');
}

static void on_stream_end(void *context)
{
    struct owner *owner = context;
    buf_printf(&owner->world->log, "%d.end ", owner->number);
}

static void on_reset(void *context)
{
    struct owner *owner = context;
    struct world *world = owner->world;
    buf_printf(&world->log, "%d.reset ", owner->number);
    world->streams[owner->number] = spdy_stream_free(world->streams[owner->number]);
}

static const struct spdy_stream_handler STREAM_HANDLER = {on_data, on_stream_end, on_reset};

static void on_stream(void *context, struct spdy_stream *stream, const struct http_header *headers)
{
    struct world *world = context;
    int number = (int)spdy_stream_id(stream);
    if (world->refuse)
        return;
    buf_printf(&world->log, "%d.open(%s) ", number, http_header_get(headers, "name"));
    owners[number] = (struct owner){world, number};
    spdy_stream_accept(stream, &STREAM_HANDLER, &owners[number]);
    world->streams[number] = stream;
    if (world->free_at_once)
        world->streams[number] = spdy_stream_free(stream);
}

static void on_drain(void *context)
{
    struct world *world = context;
    world->drained++;
}

static void on_end(void *context, const struct err *err)
{
    struct world *world = context;
    buf_printf(&world->log, "over%s%s ", err ? ": " : "", err ? err->message : "");
}

static void on_closed(void *context)
{
    struct world *world = context;
    buf_append_str(&world->log, "closed ");
    world->session = NULL;
}

static const struct spdy_session_handler HANDLER = {on_stream, on_drain, on_end, on_closed};

static void run(struct world *world)
{
    sim_loop_run_for(world->loop, 10);
}

static int setup(void **state)
{
    struct world *world = mem_zalloc(sizeof(*world));
    world->loop = sim_loop_new(5, 1700000000000);
    world->peer = memory_stream_new(world->loop, &world->line_closed);
    spdy_writer_init(&world->writer);
    spdy_reader_init(&world->reader);
    buf_init(&world->log, 1 << 24);
    world->session = spdy_session_new(&world->peer->stream, &HANDLER, world);
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;
    if (!world->line_closed)
        memory_stream_send_end(world->peer);
    run(world);
    assert_true(world->line_closed);
    assert_null(world->session);
    spdy_writer_release(&world->writer);
    spdy_reader_release(&world->reader);
    buf_release(&world->log);
    loop_free(world->loop);
    free(world);
    return 0;
}

/* ---- the peer -------------------------------------------------------------------------------- */

static void open_stream(struct world *world, uint32_t id, bool fin)
{
    const struct http_header header = {"name", "x", NULL};
    _cleanup_buf_ struct buf frame;
    buf_init(&frame, 4096);
    spdy_write_syn_stream(&world->writer, &frame, id, fin, &header);
    memory_stream_send(world->peer, frame.data, frame.size);
}

static void send_data(struct world *world, uint32_t id, const char *text, bool fin)
{
    char head[SPDY_HEAD_SIZE];
    spdy_write_data_head(head, id, fin, strlen(text));
    memory_stream_send(world->peer, head, sizeof(head));
    memory_stream_send(world->peer, text, strlen(text));
}

/* Returns the frames that the peer got since the last call, as text. */
static const char *heard(struct world *world)
{
    static char text[4096];
    char *end = text;
    struct buf *out = &world->peer->out;
    const char *at = out->data;
    size_t left = out->size, used;
    struct spdy_frame frame;
    struct err err = ERR_INIT;
    *end = '\0';
    while (left && spdy_read(&world->reader, at, left, &used, &frame, &err) == SPDY_FRAME) {
        size_t room = sizeof(text) - (size_t)(end - text);
        if (frame.type == SPDY_DATA)
            end += snprintf(end, room, "%u:%.*s%s ", (unsigned)frame.stream, (int)frame.size,
                            frame.data, frame.fin ? "." : "");
        else
            end += snprintf(end, room, "%s %u %u ",
                            frame.type == SPDY_SYN_REPLY    ? "reply"
                            : frame.type == SPDY_RST_STREAM ? "reset"
                            : frame.type == SPDY_PING       ? "ping"
                            : frame.type == SPDY_GOAWAY     ? "goaway"
                                                            : "?",
                            (unsigned)frame.stream, (unsigned)frame.value);
        at += used;
        left -= used;
    }
    buf_clear(out);
    world->peer->taken = 0;
    return text;
}

static void assert_log(struct world *world, const char *expected)
{
    assert_string_equal(world->log.data, expected);
    buf_clear(&world->log);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void each_side_of_a_stream_ends_separately(void **state)
{
    struct world *world = *state;
    world->peer->piece = 3;
    open_stream(world, 1, false);
    open_stream(world, 3, true);
    send_data(world, 1, "hi", false);
    run(world);
    assert_string_equal(heard(world), "reply 1 0 reply 3 0 ");
    assert_log(world, "1.open(x) 3.open(x) 3.end 1:h 1:i ");
    spdy_stream_write(world->streams[1], "hello", 5);
    spdy_stream_end(world->streams[1]);
    spdy_stream_end(world->streams[1]);
    spdy_stream_write(world->streams[1], "never", 5);
    spdy_stream_end(world->streams[3]);
    world->streams[3] = spdy_stream_free(world->streams[3]); /* both sides ended: no reset */
    send_data(world, 1, "", true);
    run(world);
    assert_string_equal(heard(world), "1:hello 1:. 3:. ");
    assert_log(world, "1.end ");
    assert_true(world->drained > 0);
    spdy_stream_free(world->streams[1]);
    run(world);
    assert_string_equal(heard(world), "");
}

static void a_stream_freed_before_its_end_is_reset(void **state)
{
    struct world *world = *state;
    open_stream(world, 1, false);
    run(world);
    heard(world);
    spdy_stream_free(world->streams[1]);
    send_data(world, 1, "late", false); /* was already under way: no protocol error */
    run(world);
    assert_string_equal(heard(world), "reset 1 5 ");
    assert_log(world, "1.open(x) ");
    world->free_at_once = true;
    open_stream(world, 3, true);
    run(world);
    assert_string_equal(heard(world), "reply 3 0 reset 3 5 ");
}

static void a_stream_that_is_not_accepted_is_reset(void **state)
{
    struct world *world = *state;
    world->refuse = true;
    open_stream(world, 1, false);
    send_data(world, 1, "x", true);
    send_data(world, 5, "x", true); /* never opened */
    run(world);
    assert_string_equal(heard(world), "reset 1 3 reset 5 2 ");
    assert_log(world, "");
}

static void the_peer_resets_a_stream(void **state)
{
    struct world *world = *state;
    _cleanup_buf_ struct buf frame;
    buf_init(&frame, 4096);
    open_stream(world, 1, false);
    spdy_write_rst_stream(&frame, 1, SPDY_CANCEL);
    spdy_write_rst_stream(&frame, 1, SPDY_CANCEL);
    spdy_write_rst_stream(&frame, 7, SPDY_CANCEL);
    memory_stream_send(world->peer, frame.data, frame.size);
    run(world);
    assert_log(world, "1.open(x) 1.reset ");
    assert_string_equal(heard(world), "reply 1 0 ");
}

static void pings_are_echoed(void **state)
{
    struct world *world = *state;
    _cleanup_buf_ struct buf frame;
    buf_init(&frame, 4096);
    spdy_write_ping(&frame, 41);
    spdy_write_ping(&frame, 42); /* an answer to a ping that we did not send */
    spdy_write_goaway(&frame, 0, SPDY_GOAWAY_OK);
    memory_stream_send(world->peer, frame.data, frame.size);
    run(world);
    assert_string_equal(heard(world), "ping 0 41 ");
}

static void a_paused_stream_pauses_the_connection(void **state)
{
    struct world *world = *state;
    open_stream(world, 1, false);
    open_stream(world, 3, false);
    run(world);
    buf_clear(&world->log);
    spdy_stream_pause(world->streams[1], true);
    spdy_stream_pause(world->streams[3], true);
    spdy_stream_pause(world->streams[3], true);
    send_data(world, 3, "waits", false);
    run(world);
    assert_log(world, "");
    spdy_stream_pause(world->streams[3], false);
    run(world);
    assert_log(world, "");
    world->streams[1] = spdy_stream_free(world->streams[1]); /* no owner is left */
    run(world);
    assert_log(world, "3:waits ");
}

static void the_peer_disconnects(void **state)
{
    struct world *world = *state;
    open_stream(world, 1, false);
    open_stream(world, 3, false);
    memory_stream_send_end(world->peer);
    run(world);
    assert_log(world, "1.open(x) 3.open(x) 3.reset 1.reset over closed ");
}

static void a_protocol_violation_ends_the_session(void **state)
{
    struct world *world = *state;
    open_stream(world, 3, false);
    open_stream(world, 1, false);
    sim_loop_run_for(world->loop, 0);
    run(world);
    assert_log(world, "3.open(x) 3.reset over: spdy: stream id 1 is not allowed: ids must be odd "
                      "and greater than the last one, 3 closed ");
}

static void closing_the_session_sends_goaway(void **state)
{
    struct world *world = *state;
    open_stream(world, 1, false);
    run(world);
    heard(world);
    memory_stream_hold(world->peer, true);
    spdy_session_close(world->session);
    spdy_stream_write(world->streams[1], "never", 5);
    spdy_session_close(world->session);
    sim_loop_run_for(world->loop, 1);
    assert_string_equal(heard(world), "goaway 1 0 ");
    memory_stream_hold(world->peer, false);
    run(world);
    assert_log(world, "1.open(x) 1.reset closed ");
}

/* Accepts all streams and keeps none in world->streams. */
static void on_reset_of_many(void *context)
{
    struct spdy_stream **slot = context;
    *slot = spdy_stream_free(*slot);
}

static struct spdy_stream *many[SPDY_STREAMS_MAX];
static size_t many_count;

static void on_one_of_many(void *context, struct spdy_stream *stream,
                           const struct http_header *headers)
{
    static const struct spdy_stream_handler handler = {on_data, on_stream_end, on_reset_of_many};
    many[many_count] = stream;
    spdy_stream_accept(stream, &handler, &many[many_count++]);
}

static void streams_have_a_limit(void **state)
{
    static const struct spdy_session_handler handler = {on_one_of_many, on_drain, on_end,
                                                        on_closed};
    struct world *world = *state;
    bool line_closed;
    struct memory_stream *line = memory_stream_new(world->loop, &line_closed);
    struct memory_stream *first = world->peer;
    spdy_session_new(&line->stream, &handler, world);
    world->peer = line;
    for (uint32_t id = 1; id <= 2 * SPDY_STREAMS_MAX + 1; id += 2)
        open_stream(world, id, false);
    run(world);
    assert_int_equal(many_count, SPDY_STREAMS_MAX); /* the last stream was rejected */
    memory_stream_send_end(line);
    run(world);
    assert_true(line_closed);
    assert_null(many[0]);
    world->peer = first;
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(each_side_of_a_stream_ends_separately),
        TEST(a_stream_freed_before_its_end_is_reset),
        TEST(a_stream_that_is_not_accepted_is_reset),
        TEST(the_peer_resets_a_stream),
        TEST(pings_are_echoed),
        TEST(a_paused_stream_pauses_the_connection),
        TEST(the_peer_disconnects),
        TEST(a_protocol_violation_ends_the_session),
        TEST(closing_the_session_sends_goaway),
        TEST(streams_have_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
