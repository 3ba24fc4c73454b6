/* Tests pipes and terminals as streams: ends, slow and absent readers, limits. */
#include "base/cleanup.h"
#include "base/mem.h"
#include "loop_turns.h"
#include "net/stream/pipe_stream.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { LARGE = 1024 * 1024, PENDING_MAX = 64 * 1024 * 1024 };

/* The callbacks that a stream has called. */
struct world {
    struct loop *loop;
    struct stream *stream;
    int other; /* the other end, which is not a stream */
    char heard[64];
    size_t heard_size;
    int opened, sent, ends;
    struct err err; /* code 0: no error */
    bool pauses;    /* pauses after each piece */
};

static void on_open(void *context)
{
    ((struct world *)context)->opened++;
}

static void on_data(void *context, const char *data, size_t size)
{
    struct world *world = context;
    for (size_t i = 0; i < size && world->heard_size + i < sizeof(world->heard) - 1; i++)
        world->heard[world->heard_size + i] = data[i];
    world->heard_size += size;
    if (world->pauses)
        stream_pause(world->stream, true);
}

static void on_sent(void *context)
{
    ((struct world *)context)->sent++;
}

static void on_end(void *context, const struct err *err)
{
    struct world *world = context;
    world->ends++;
    if (err)
        world->err = *err;
}

static void on_closed(void *context)
{
    ((struct world *)context)->stream = NULL;
}

static const struct stream_handler HANDLER = {
    .on_open = on_open,
    .on_data = on_data,
    .on_sent = on_sent,
    .on_end = on_end,
    .on_closed = on_closed,
};

static void start(struct world *world, int ours, int other)
{
    struct err err = ERR_INIT;
    *world = (struct world){.other = other};
    assert_int_equal(loop_new(&world->loop, &err), 0);
    if (pipe_stream_new(world->loop, ours, true, &world->stream, &err) < 0)
        fail_msg("%s", err.message);
    stream_start(world->stream, &HANDLER, world);
}

static void start_reading(struct world *world)
{
    int fds[2];
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    start(world, fds[0], fds[1]);
}

static void start_writing(struct world *world)
{
    int fds[2];
    assert_int_equal(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
    start(world, fds[1], fds[0]);
}

static void finish(struct world *world)
{
    if (world->stream)
        stream_close(world->stream);
    turn(world->loop);
    assert_null(world->stream);
    if (world->other >= 0)
        close(world->other);
    loop_free(world->loop);
}

static void say(const struct world *world, const char *text)
{
    assert_int_equal(write(world->other, text, strlen(text)), strlen(text));
}

static size_t drain(const struct world *world)
{
    static char piece[64 * 1024];
    size_t total = 0;
    for (ssize_t got; (got = read(world->other, piece, sizeof(piece))) > 0;)
        total += (size_t)got;
    return total;
}

/* ---- reading --------------------------------------------------------------------------------- */

static void bytes_are_delivered_and_then_the_end(void **context)
{
    struct world world;
    start_reading(&world);
    say(&world, "hello");
    close(TAKE_FD(world.other));
    turn(world.loop);
    assert_string_equal(world.heard, "hello");
    assert_int_equal(world.opened, 1);
    assert_int_equal(world.ends, 1);
    assert_int_equal(world.err.code, 0);
    finish(&world);
    assert_int_equal(world.ends, 1);
}

static void nothing_is_read_while_paused(void **context)
{
    struct world world;
    start_reading(&world);
    world.pauses = true;
    say(&world, "one");
    turn(world.loop);
    say(&world, "two");
    close(TAKE_FD(world.other));
    turn(world.loop);
    assert_string_equal(world.heard, "one");
    stream_pause(world.stream, false);
    turn(world.loop);
    assert_string_equal(world.heard, "onetwo");
    assert_int_equal(world.ends, 0);
    stream_pause(world.stream, false);
    turn(world.loop);
    assert_int_equal(world.ends, 1);
    finish(&world);
}

/* A daemon that the program left behind keeps the pipe open. */
static void a_stream_can_end_while_another_process_holds_the_pipe(void **context)
{
    struct world world;
    start_reading(&world);
    say(&world, "last words");
    pipe_stream_end_here(world.stream);
    say(&world, "of another");
    turn(world.loop);
    assert_string_equal(world.heard, "last words");
    assert_int_equal(world.ends, 1);
    finish(&world);
}

static void an_empty_pipe_ends_at_once(void **context)
{
    struct world world;
    start_reading(&world);
    pipe_stream_end_here(world.stream);
    turn(world.loop);
    assert_int_equal(world.heard_size, 0);
    assert_int_equal(world.ends, 1);
    finish(&world);
}

static void a_write_to_a_read_end_is_ignored(void **context)
{
    struct world world;
    start_reading(&world);
    stream_write(world.stream, "x", 1);
    assert_int_equal(stream_pending(world.stream), 0);
    close(TAKE_FD(world.other));
    turn(world.loop);
    assert_int_equal(world.err.code, 0);
    finish(&world);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void a_slow_reader_gets_all(void **context)
{
    struct world world;
    char *large = mem_zalloc(LARGE);
    start_writing(&world);
    stream_write(world.stream, large, LARGE);
    assert_int_equal(stream_pending(world.stream), LARGE);
    turn(world.loop);
    size_t left = stream_pending(world.stream), got = 0;
    assert_true(left > 0 && left < LARGE);
    turn(world.loop);
    assert_int_equal(stream_pending(world.stream), left); /* the peer does not read */
    assert_int_equal(world.sent, 0);
    stream_shut(world.stream);
    stream_write(world.stream, "x", 1); /* ignored after stream_shut() */
    while (stream_pending(world.stream)) {
        got += drain(&world);
        turn(world.loop);
    }
    assert_int_equal(got + drain(&world), LARGE);
    assert_int_equal(world.sent, 1);
    char byte;
    assert_int_equal(read(world.other, &byte, 1), 0); /* the stream's end is closed */
    assert_int_equal(world.ends, 0);
    free(large);
    finish(&world);
}

static void pending_bytes_are_written_before_the_end(void **context)
{
    struct world world;
    char *large = mem_zalloc(LARGE);
    start_writing(&world);
    stream_write(world.stream, large, LARGE);
    stream_finish(world.stream);
    size_t got = 0;
    while (world.stream) {
        turn(world.loop);
        got += drain(&world);
    }
    assert_int_equal(got, LARGE);
    free(large);
    finish(&world);
}

static void a_write_to_a_closed_pipe_is_an_error(void **context)
{
    struct world world;
    start_writing(&world);
    close(TAKE_FD(world.other));
    stream_write(world.stream, "x", 1);
    turn(world.loop);
    assert_int_equal(world.ends, 1);
    assert_string_equal(world.err.message, "the program no longer reads its input: Broken pipe");
    turn(world.loop);
    assert_null(world.stream); /* the stream closed itself */
    finish(&world);
    assert_int_equal(world.sent, 0);
}

static void a_reader_closes_during_a_write(void **context)
{
    struct world world;
    char *large = mem_zalloc(LARGE);
    start_writing(&world);
    stream_write(world.stream, large, LARGE);
    turn(world.loop);
    close(TAKE_FD(world.other));
    turn(world.loop);
    assert_int_equal(world.ends, 1);
    assert_int_not_equal(world.err.code, 0);
    free(large);
    finish(&world);
}

static void pending_bytes_have_a_limit(void **context)
{
    struct world world;
    char *large = mem_zalloc(LARGE);
    start_writing(&world);
    for (int i = 0; i <= PENDING_MAX / LARGE; i++)
        stream_write(world.stream, large, LARGE);
    turn(world.loop);
    assert_int_equal(world.err.code, ERR_TOO_LARGE);
    assert_string_equal(world.err.message,
                        "more than 67108864 bytes wait for a program that does not read its input");
    free(large);
    finish(&world);
}

static void a_stream_that_was_never_started_can_be_closed(void **context)
{
    struct loop *loop;
    struct stream *stream = NULL;
    int fds[2];
    assert_int_equal(loop_new(&loop, NULL), 0);
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    assert_int_equal(pipe_stream_new(loop, fds[0], false, &stream, NULL), 0);
    stream_close(stream);
    turn(loop);
    assert_true(fcntl(fds[0], F_GETFD) < 0);
    close(fds[1]);
    loop_free(loop);
}

static void a_closed_stream_calls_no_callback(void **context)
{
    struct world world;
    start_reading(&world);
    say(&world, "hello");
    stream_close(world.stream);
    stream_close(world.stream);
    turn(world.loop);
    assert_null(world.stream);
    assert_int_equal(world.heard_size + (size_t)world.ends + (size_t)world.opened, 0);
    finish(&world);
}

/* ---- terminals, and files -------------------------------------------------------------------- */

/* Bytes pass through a terminal with a delay of the kernel, so the test waits for them. */
static void a_terminal_goes_both_ways(void **context)
{
    struct world world;
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(slave >= 0);
    start(&world, master, slave);
    stream_write(world.stream, "in\n", 3);
    turn(world.loop);
    char line[8] = "";
    assert_int_equal(read(slave, line, sizeof(line)), 3);
    assert_string_equal(line, "in\n");
    say(&world, "out");
    while (world.heard_size < strlen("in\r\nout"))
        turn(world.loop);
    assert_string_equal(world.heard, "in\r\nout"); /* the echo of the input, then the output */
    pipe_stream_end_here(world.stream);            /* the stream ends by itself */
    turn(world.loop);
    assert_int_equal(world.ends, 0);
    close(TAKE_FD(world.other));
    while (!world.ends)
        turn(world.loop);
    assert_int_equal(world.ends, 1);
    assert_int_equal(world.err.code, 0); /* EIO is the normal end of a terminal */
    finish(&world);
}

static void a_file_is_rejected_and_closed(void **context)
{
    struct loop *loop;
    struct stream *stream = NULL;
    struct err err = ERR_INIT;
    char name[] = "/tmp/trainyard-pipe.XXXXXX";
    int fd = mkstemp(name);
    unlink(name);
    assert_int_equal(loop_new(&loop, &err), 0);
    assert_true(pipe_stream_new(loop, fd, false, &stream, &err) < 0);
    assert_string_equal(err.message, "cannot watch a pipe: Operation not permitted");
    assert_null(stream);
    assert_true(fcntl(fd, F_GETFD) < 0);
    loop_free(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_delivered_and_then_the_end),
        cmocka_unit_test(nothing_is_read_while_paused),
        cmocka_unit_test(a_stream_can_end_while_another_process_holds_the_pipe),
        cmocka_unit_test(an_empty_pipe_ends_at_once),
        cmocka_unit_test(a_write_to_a_read_end_is_ignored),
        cmocka_unit_test(a_slow_reader_gets_all),
        cmocka_unit_test(pending_bytes_are_written_before_the_end),
        cmocka_unit_test(a_write_to_a_closed_pipe_is_an_error),
        cmocka_unit_test(a_reader_closes_during_a_write),
        cmocka_unit_test(pending_bytes_have_a_limit),
        cmocka_unit_test(a_stream_that_was_never_started_can_be_closed),
        cmocka_unit_test(a_closed_stream_calls_no_callback),
        cmocka_unit_test(a_terminal_goes_both_ways),
        cmocka_unit_test(a_file_is_rejected_and_closed),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
