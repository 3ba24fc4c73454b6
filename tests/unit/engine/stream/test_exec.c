/* Tests exec and attach, from the request to the streams of the command. The test plays kubectl on
 * one side and the pod on the other, both on streams in memory and in virtual time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api_line.h"

#include "base/mem.h"
#include "engine/stream/remote_status.h"
#include "loop/sim/sim_loop.h"
#include "net/stream/spdy.h"
#include "net/stream/websocket.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IN = 0, OUT, ERRORS, LINES };

struct world {
    struct api_line line;
    struct websocket_reader websocket;
    struct spdy_writer writer;
    struct spdy_reader reader;
    /* the command */
    bool ran, run_closed;
    char asked[256];
    const struct engine_pod_command_handler *handler;
    void *context;
    struct memory_stream *lines[LINES];
    bool line_closed[LINES];
    int columns, rows;
};

static void run(struct world *world)
{
    api_line_run(&world->line);
}

/* ---- the pod --------------------------------------------------------------------------------- */

static void *on_run(void *context, const struct json *pod, const struct engine_pod_command *command,
                    const struct engine_pod_command_handler *handler, void *handler_context)
{
    struct world *world = context;
    char *at = world->asked, *end = at + sizeof(world->asked);
    at += snprintf(at, (size_t)(end - at), "%s%s%s%s%s:", command->container,
                   command->in ? " in" : "", command->out ? " out" : "", command->err ? " err" : "",
                   command->terminal ? " tty" : "");
    for (size_t i = 0; command->arguments && command->arguments[i]; i++)
        at += snprintf(at, (size_t)(end - at), " %s", command->arguments[i]);
    world->ran = true;
    world->handler = handler;
    world->context = handler_context;
    return world;
}

static void on_resize(void *run_, int columns, int rows)
{
    struct world *world = run_;
    world->columns = columns;
    world->rows = rows;
}

static void on_run_close(void *run_)
{
    ((struct world *)run_)->run_closed = true;
}

static void on_shut(struct stream *line)
{
    memory_stream_send_end(CONTAINER_OF(line, struct memory_stream, stream));
}

static void start_lines(struct world *world, bool in, bool out, bool errors)
{
    const bool wanted[LINES] = {in, out, errors};
    for (int i = 0; i < LINES; i++)
        if (wanted[i])
            world->lines[i] = memory_stream_new(world->line.loop, &world->line_closed[i]);
    const struct engine_pod_streams lines = {in ? &world->lines[IN]->stream : NULL,
                                             out ? &world->lines[OUT]->stream : NULL,
                                             errors ? &world->lines[ERRORS]->stream : NULL};
    world->handler->started(world->context, &lines);
    run(world);
}

static void say(struct world *world, int line, const char *text)
{
    memory_stream_send(world->lines[line], text, strlen(text));
    run(world);
}

/* Stops the peer from reading, so that the bytes sent to it can be checked. */
static void end_with(struct world *world, int code, const char *message, const struct err *err)
{
    memory_stream_hold(world->line.peer, true);
    world->handler->ended(world->context, code, message, err);
    run(world);
}

static void end_command(struct world *world, int code)
{
    end_with(world, code, "", NULL);
}

/* ---- kubectl --------------------------------------------------------------------------------- */

static int ask(struct world *world, const char *method, const char *path, const char *headers)
{
    char whole[512];
    snprintf(whole, sizeof(whole), "/api/v1/namespaces/default/pods/x/%s", path);
    return api_line_ask(&world->line, method, whole, headers);
}

static void put(struct world *world, const char *method, const char *path, const char *body)
{
    api_line_put(&world->line, method, path, body);
}

#define SPDY "Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\n"
#define WEBSOCKET                                                                                  \
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"                   \
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: "
#define V4 "X-Stream-Protocol-Version: v4.channel.k8s.io\r\n"

static void upgrade(struct world *world, const char *method, const char *path, const char *headers)
{
    assert_int_equal(ask(world, method, path, headers), 101);
    api_line_clear(&world->line);
}

/* ---- over WebSocket */

static void send_frame(struct world *world, enum websocket_opcode opcode, const char *data,
                       size_t size)
{
    static const unsigned char MASK[] = {9, 8, 7, 6};
    char head[WEBSOCKET_HEAD_MAX];
    _cleanup_free_ char *body = mem_alloc(size + 1);
    websocket_mask(MASK, 0, data, size, body);
    memory_stream_send(world->line.peer, head,
                       websocket_write_head(head, opcode, true, size, MASK));
    memory_stream_send(world->line.peer, body, size);
    run(world);
}

static void send_message(struct world *world, const char *data, size_t size)
{
    send_frame(world, WEBSOCKET_BINARY, data, size);
}

static void send_text(struct world *world, const char *text)
{
    send_frame(world, WEBSOCKET_TEXT, text, strlen(text));
}
#define SEND(world, literal) send_message(world, literal, sizeof(literal) - 1)

/* Returns the received messages: "1:text 3:status close ". */
static const char *heard(struct world *world)
{
    static char text[8192];
    char *end = text;
    const struct buf *out = &world->line.peer->out;
    struct websocket_piece piece;
    text[0] = '\0';
    for (size_t at = 0, used; at < out->size; at += used) {
        enum websocket_result result =
            websocket_read(&world->websocket, out->data + at, out->size - at, &used, &piece, NULL);
        size_t room = sizeof(text) - (size_t)(end - text);
        if (result != WEBSOCKET_PIECE)
            continue;
        if (piece.opcode == WEBSOCKET_BINARY && piece.size)
            end +=
                snprintf(end, room, "%d:%.*s ", piece.data[0], (int)piece.size - 1, piece.data + 1);
        else if (piece.opcode == WEBSOCKET_TEXT)
            end += snprintf(end, room, "%.*s ", (int)piece.size, piece.data);
        else if (piece.opcode == WEBSOCKET_CLOSE)
            end += snprintf(end, room, "close %d ", piece.code);
    }
    api_line_clear(&world->line);
    return text;
}

/* ---- over SPDY */

static void open_stream(struct world *world, uint32_t id, const char *type)
{
    const struct http_header what = {"streamtype", type, NULL};
    _cleanup_buf_ struct buf frame;
    buf_init(&frame, 4096);
    spdy_write_syn_stream(&world->writer, &frame, id, false, &what);
    memory_stream_send(world->line.peer, frame.data, frame.size);
    run(world);
}

static void send_data(struct world *world, uint32_t id, const char *text, bool fin)
{
    char head[SPDY_HEAD_SIZE];
    spdy_write_data_head(head, id, fin, strlen(text));
    memory_stream_send(world->line.peer, head, sizeof(head));
    memory_stream_send(world->line.peer, text, strlen(text));
    run(world);
}

static const char *heard_spdy(struct world *world)
{
    static char text[8192];
    char *end = text;
    const struct buf *out = &world->line.peer->out;
    const char *at = out->data;
    size_t left = out->size, used;
    struct spdy_frame frame;
    *end = '\0';
    while (left && spdy_read(&world->reader, at, left, &used, &frame, NULL) == SPDY_FRAME) {
        size_t room = sizeof(text) - (size_t)(end - text);
        if (frame.type == SPDY_DATA && frame.size)
            end += snprintf(end, room, "%u:%.*s ", (unsigned)frame.stream, (int)frame.size,
                            frame.data);
        else if (frame.type == SPDY_RST_STREAM)
            end += snprintf(end, room, "reset %u ", (unsigned)frame.stream);
        else if (frame.type == SPDY_GOAWAY)
            end += snprintf(end, room, "goaway ");
        at += used;
        left -= used;
    }
    api_line_clear(&world->line);
    return text;
}

/* ---- fixture --------------------------------------------------------------------------------- */

static void set_status(struct world *world, const char *status)
{
    char body[512];
    snprintf(body, sizeof(body), "{\"status\":%s}", status);
    put(world, "PATCH", "/api/v1/namespaces/default/pods/x/status", body);
}

static int setup(void **state)
{
    struct world *world = mem_zalloc(sizeof(*world));
    struct engine_pod_backend backend = {.run = on_run,
                                         .run_resize = on_resize,
                                         .run_close = on_run_close,
                                         .run_drain = on_shut,
                                         .context = world};
    api_line_open(&world->line, &backend, "test:1");
    spdy_writer_init(&world->writer);
    spdy_reader_init(&world->reader);
    websocket_reader_init(&world->websocket, WEBSOCKET_SERVER, 1 << 20);
    put(world, "POST", "/api/v1/namespaces/default/pods",
        "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"nodeName\":\"n\",\"containers\":[{\"name\":"
        "\"main\",\"image\":\"i\"},{\"name\":\"side\",\"image\":\"i\",\"stdin\":true,\"tty\":true}]"
        "}}");
    set_status(world, "{\"phase\":\"Running\",\"containerStatuses\":[{\"name\":\"main\",\"state\":{"
                      "\"running\":{}}},{\"name\":\"side\",\"state\":{\"running\":{}}}]}");
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;
    api_line_close(&world->line);
    for (int i = 0; i < LINES; i++)
        assert_true(!world->lines[i] || world->line_closed[i]);
    spdy_writer_release(&world->writer);
    spdy_reader_release(&world->reader);
    free(world);
    return 0;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void invalid_exec_requests_are_rejected(void **state)
{
    struct world *world = *state;
    const struct {
        const char *path, *headers;
        int status;
        const char *words;
    } cases[] = {
        {"exec?stdout=1", SPDY V4, 400, "you must specify at least one command"},
        {"exec?command=ls", SPDY V4, 400, "at least 1 of stdin, stdout, stderr"},
        {"exec?command=ls&stdout=1&container=none", SPDY V4, 400,
         "container none is not valid for pod x"},
        {"exec?command=ls&stdout=1", "", 400, "unable to upgrade"},
        {"exec?command=ls&stdout=1", SPDY "X-Stream-Protocol-Version: v9.channel.k8s.io\r\n", 403,
         "unable to negotiate protocol"},
        {"attach?stdout=1&tty=1", SPDY V4, 400, "container main has none"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        assert_int_equal(ask(world, "POST", cases[i].path, cases[i].headers), cases[i].status);
        if (!strstr(world->line.peer->out.data, cases[i].words))
            fail_msg("no '%s' in: %s", cases[i].words, world->line.peer->out.data);
    }
    set_status(world, "{\"containerStatuses\":[{\"name\":\"main\",\"state\":{\"waiting\":{}}}]}");
    assert_int_equal(ask(world, "POST", "exec?command=ls&stdout=1", SPDY V4), 500);
    assert_non_null(strstr(world->line.peer->out.data, "container not found"));
    set_status(world, "{\"phase\":\"Failed\"}");
    assert_int_equal(ask(world, "POST", "exec?command=ls&stdout=1", SPDY V4), 500);
    assert_non_null(strstr(world->line.peer->out.data, "completed pod; current phase is Failed"));
    assert_false(world->ran);
}

static void exec_over_websocket(void **state)
{
    struct world *world = *state;
    upgrade(world, "GET", "exec?command=sh&command=-c&command=a%20b&stdin=1&stdout=1&stderr=1",
            WEBSOCKET "v5.channel.k8s.io\r\n");
    assert_string_equal(world->asked, "main in out err: sh -c a b");
    SEND(world, "\0early ");
    start_lines(world, true, true, true);
    SEND(world, "\0late");
    assert_string_equal(world->lines[IN]->out.data, "early late");
    assert_false(world->lines[IN]->shut);
    SEND(world, "\xff\0");
    assert_true(world->lines[IN]->shut);
    say(world, OUT, "out");
    say(world, ERRORS, "complaint");
    assert_string_equal(heard(world), "1:out 2:complaint ");
    /* The last output arrives before the end of the command. */
    memory_stream_send(world->lines[OUT], "last", 4);
    end_command(world, 3);
    assert_string_equal(
        heard(world),
        "1:last 3:{\"metadata\":{},\"status\":\"Failure\",\"message\":\"command terminated with "
        "non-zero exit code: error executing command [sh -c a b], exit code 3\",\"reason\":"
        "\"NonZeroExitCode\",\"details\":{\"causes\":[{\"reason\":\"ExitCode\",\"message\":\"3\"}]}"
        "}"
        " close 1000 ");
}

/* Kubernetes' Python client sends strings as text messages. */
static void input_may_come_as_text(void **state)
{
    struct world *world = *state;
    upgrade(world, "GET", "exec?command=cat&stdin=1&stdout=1&tty=1",
            WEBSOCKET "v4.channel.k8s.io\r\n");
    start_lines(world, true, true, false);
    send_frame(world, WEBSOCKET_TEXT, "\0as text, ", 10);
    SEND(world, "\0as bytes");
    assert_string_equal(world->lines[IN]->out.data, "as text, as bytes");
    send_text(world, "\4{\"Width\":10,\"Height\":20}");
    assert_int_equal(world->columns * 100 + world->rows, 1020);
    say(world, OUT, "out");
    assert_string_equal(heard(world), "1:out ");
}

/* For clients without binary messages: the digit of the channel, then base64. */
static void exec_over_websocket_in_base64(void **state)
{
    struct world *world = *state;
    upgrade(world, "GET", "exec?command=sh&stdin=1&stdout=1&tty=1",
            WEBSOCKET "v4.base64.channel.k8s.io\r\n");
    start_lines(world, true, true, false);
    send_text(world, "0aGVsbG8=");
    send_text(world, "0");
    send_text(world, "0IQ==");
    assert_string_equal(world->lines[IN]->out.data, "hello!");
    send_text(world, "4eyJXaWR0aCI6MTAsIkhlaWdodCI6MjB9");
    assert_int_equal(world->columns * 100 + world->rows, 1020);
    say(world, OUT, "out\1");
    assert_string_equal(heard(world), "1b3V0AQ== ");
    memory_stream_hold(world->line.peer, true);
    send_text(world, "0aGVsbG8"); /* no base64 */
    assert_string_equal(heard(world), "close 1003 ");
    assert_true(world->run_closed);
}

static void base64_and_bytes_are_not_mixed(void **state)
{
    struct world *world = *state;
    upgrade(world, "GET", "exec?command=cat&stdin=1&stdout=1",
            WEBSOCKET "base64.channel.k8s.io\r\n");
    start_lines(world, true, true, false);
    memory_stream_hold(world->line.peer, true);
    SEND(world, "\0bytes");
    assert_string_equal(heard(world), "close 1003 ");
    assert_true(world->run_closed);
}

static void a_message_in_base64_has_a_limit(void **state)
{
    enum { MOST = 1024 * 1024 };
    struct world *world = *state;
    _cleanup_free_ char *text = mem_zalloc(MOST + 2);
    upgrade(world, "GET", "exec?command=cat&stdin=1&stdout=1",
            WEBSOCKET "v4.base64.channel.k8s.io\r\n");
    start_lines(world, true, true, false);
    text[0] = '0';
    memset(text + 1, 'A', MOST - 4); /* the longest text that base64 allows */
    send_text(world, text);
    assert_int_equal(world->lines[IN]->out.size, (MOST - 4) / 4 * 3);
    memset(text + 1, 'A', MOST);
    memory_stream_hold(world->line.peer, true);
    send_text(world, text);
    assert_string_equal(heard(world), "close 1009 ");
}

static void the_oldest_text_protocol_gets_an_error_message(void **state)
{
    struct world *world = *state;
    upgrade(world, "GET", "exec?command=ls&stdout=1", WEBSOCKET "base64.channel.k8s.io\r\n");
    end_command(world, 2);
    /* "command terminated with non-zero exit code: error executing command [ls], exit code 2" */
    assert_string_equal(heard(world),
                        "3Y29tbWFuZCB0ZXJtaW5hdGVkIHdpdGggbm9uLXplcm8gZXhpdCBjb2RlOiBlcnJvciBleGVj"
                        "dXRpbmcgY29tbWFuZCBbbHNdLCBleGl0IGNvZGUgMg== close 1000 ");
}

static void exec_over_spdy(void **state)
{
    struct world *world = *state;
    upgrade(world, "POST", "exec?command=cat&stdin=1&stdout=1", SPDY V4);
    open_stream(world, 1, "error");
    open_stream(world, 3, "stdin");
    assert_false(world->ran); /* the command does not start before all streams have arrived */
    open_stream(world, 5, "stdout");
    assert_true(world->ran);
    start_lines(world, true, true, false);
    send_data(world, 3, "word", true);
    assert_string_equal(world->lines[IN]->out.data, "word");
    assert_true(world->lines[IN]->shut);
    say(world, OUT, "word");
    end_command(world, 0);
    assert_string_equal(heard_spdy(world),
                        "5:word 1:{\"metadata\":{},\"status\":\"Success\"} goaway ");
}

static void exec_with_a_terminal(void **state)
{
    struct world *world = *state;
    upgrade(world, "POST", "exec?command=sh&stdin=1&stdout=1&stderr=1&tty=1", SPDY V4);
    open_stream(world, 1, "error");
    open_stream(world, 3, "stdin");
    open_stream(world, 5, "stdout");
    open_stream(world, 7, "resize");
    assert_string_equal(world->asked, "main in out tty: sh");
    send_data(world, 7, "{\"Width\":80,\"Hei", false);
    send_data(world, 7, "ght\":24}\n", false);
    start_lines(world, true, false, false);
    assert_int_equal(world->columns, 80); /* also if the size arrived before there was a terminal */
    send_data(world, 7, "{\"Width\":99,\"Height\":70000}\n{\"Width\":99,\"Height\":33}\n", false);
    assert_int_equal(world->columns * 100 + world->rows, 9933);
    say(world, IN, "prompt");
    end_command(world, 0);
    /* the end of the terminal is the end of the command */
    assert_string_equal(heard_spdy(world), "5:prompt ");
    memory_stream_send(world->lines[IN], "!", 1);
    memory_stream_send_end(world->lines[IN]);
    run(world);
    assert_string_equal(heard_spdy(world),
                        "5:! 1:{\"metadata\":{},\"status\":\"Success\"} goaway ");
}

static void attach_to_a_container(void **state)
{
    struct world *world = *state;
    upgrade(world, "GET", "attach?container=side&stdin=1&stdout=1&stderr=1&tty=1",
            WEBSOCKET "v4.channel.k8s.io\r\n");
    assert_string_equal(world->asked, "side in out tty:");
    start_lines(world, true, true, false);
    SEND(world, "\4{\"Width\":10,\"Height\":20}");
    assert_int_equal(world->columns, 10);
    SEND(world, "\xff\0"); /* v4 has no such message */
    assert_false(world->lines[IN]->shut);
    say(world, OUT, "x");
    end_command(world, 5); /* the exit code of the container does not make attach fail */
    assert_string_equal(heard(world), "1:x 3:{\"metadata\":{},\"status\":\"Success\"} close 1000 ");
}

static void a_command_that_did_not_start_reports_why(void **state)
{
    struct world *world = *state;
    upgrade(world, "GET", "exec?command=nix&stdout=1&stderr=1", WEBSOCKET "v5.channel.k8s.io\r\n");
    end_with(world, 127, "cannot run 'nix'", NULL);
    const char *said = heard(world);
    assert_non_null(strstr(said, "2:cannot run 'nix' 2:\n 3:{"));
    assert_non_null(strstr(said, "\"message\":\"127\""));
}

static void a_rejected_command_is_an_internal_error(void **state)
{
    struct world *world = *state;
    struct err err;
    upgrade(world, "GET", "exec?command=ls&stdout=1", WEBSOCKET "v5.channel.k8s.io\r\n");
    err_set(&err, ERR_UNAVAILABLE, "the pod is not running");
    end_with(world, 0, "", &err);
    assert_non_null(strstr(heard(world),
                           "\"message\":\"Internal error occurred: error executing "
                           "command in container: the pod is not running\",\"reason\":"
                           "\"InternalError\""));
}

static void the_oldest_protocol_gets_an_error_message(void **state)
{
    struct world *world = *state;
    upgrade(world, "POST", "exec?command=ls&stdout=1", SPDY);
    open_stream(world, 1, "error");
    open_stream(world, 3, "stdout");
    end_command(world, 2);
    assert_string_equal(heard_spdy(world), "1:command terminated with non-zero exit code: error "
                                           "executing command [ls], exit code 2 goaway ");
}

static void a_caller_that_disconnects_ends_the_command(void **state)
{
    struct world *world = *state;
    upgrade(world, "GET", "exec?command=cat&stdin=1&stdout=1", WEBSOCKET "v5.channel.k8s.io\r\n");
    start_lines(world, true, true, false);
    memory_stream_break(world->line.peer);
    run(world);
    assert_true(world->run_closed);
    assert_true(world->line_closed[IN] && world->line_closed[OUT]);
}

static void a_slow_reader_slows_the_writer(void **state)
{
    struct world *world = *state;
    static char much[3000];
    memset(much, 'x', sizeof(much));
    much[0] = '\0';
    upgrade(world, "GET", "exec?command=cat&stdin=1&stdout=1", WEBSOCKET "v5.channel.k8s.io\r\n");
    start_lines(world, true, true, false);
    memory_stream_hold(world->lines[IN], true);
    int sent = 0;
    for (; sent < 1000 && !world->line.peer->paused; sent++)
        send_message(world, much, sizeof(much));
    assert_in_range(sent, 10, 200);
    memory_stream_hold(world->lines[IN], false);
    run(world);
    assert_false(world->line.peer->paused);
    memory_stream_hold(world->line.peer, true);
    for (sent = 0; sent < 1000 && !world->lines[OUT]->paused; sent++) {
        memory_stream_send(world->lines[OUT], much, sizeof(much));
        run(world);
    }
    assert_in_range(sent, 10, 200);
    memory_stream_hold(world->line.peer, false);
    run(world);
    assert_false(world->lines[OUT]->paused);
}

static void the_server_may_be_freed_during_a_session(void **state)
{
    struct world *world = *state;
    upgrade(world, "GET", "exec?command=cat&stdout=1", WEBSOCKET "v5.channel.k8s.io\r\n");
    start_lines(world, false, true, false);
    /* the teardown frees the engine while the session is open */
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(invalid_exec_requests_are_rejected),
        TEST(exec_over_websocket),
        TEST(input_may_come_as_text),
        TEST(exec_over_websocket_in_base64),
        TEST(base64_and_bytes_are_not_mixed),
        TEST(a_message_in_base64_has_a_limit),
        TEST(the_oldest_text_protocol_gets_an_error_message),
        TEST(exec_over_spdy),
        TEST(exec_with_a_terminal),
        TEST(attach_to_a_container),
        TEST(a_command_that_did_not_start_reports_why),
        TEST(a_rejected_command_is_an_internal_error),
        TEST(the_oldest_protocol_gets_an_error_message),
        TEST(a_caller_that_disconnects_ends_the_command),
        TEST(a_slow_reader_slows_the_writer),
        TEST(the_server_may_be_freed_during_a_session),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
