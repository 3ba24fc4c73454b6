/* A server's connection on a stream in memory and in virtual time: the whole protocol, its clocks
 * and its ends, without a socket. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "loop/sim/sim_loop.h"
#include "memory_stream.h"
#include "net/http_connection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PEERS = 4 };

struct world {
    struct loop *loop;
    struct http_service service;
    struct memory_stream *peer;
    bool closed;
    struct http_exchange *held;
    int requests, cancelled, drained, closed_count, admissions;
    struct budget_group memory;
    struct memory_stream *peers[PEERS]; /* further connections */
    bool peers_closed[PEERS];
    char log[256]; /* the paths asked for */
    bool end_in_later_turn;
    struct loop_task task;
};

static void on_cancel(struct http_exchange *exchange)
{
    struct world *world = exchange->context;
    world->cancelled++;
    world->held = NULL;
}

static void on_drain(struct http_exchange *exchange)
{
    struct world *world = exchange->context;
    world->drained++;
}

static void on_task(struct loop_task *task)
{
    struct world *world = CONTAINER_OF(task, struct world, task);
    struct http_exchange *exchange = TAKE(world->held);
    http_respond(exchange, 200, "text/plain", exchange->request->body,
                 exchange->request->body_size);
}

static void handler(struct http_exchange *exchange, void *context)
{
    struct world *world = context;
    const struct http_request *request = exchange->request;
    world->requests++;
    strncat(world->log, request->path, sizeof(world->log) - strlen(world->log) - 1);
    exchange->context = world;
    assert_string_equal(request->peer, "test:1");
    if (strcmp(request->path, "/echo") == 0) {
        if (world->end_in_later_turn) {
            world->held = exchange;
            loop_defer(world->loop, &world->task);
            return;
        }
        http_respond(exchange, 200, "text/plain", request->body, request->body_size);
        assert_string_equal(request->path, "/echo"); /* still there */
    } else if (strcmp(request->path, "/stream") == 0 || strcmp(request->path, "/hold") == 0) {
        world->held = exchange;
        exchange->on_cancel = request->path[1] == 's' ? on_cancel : NULL;
        exchange->on_drain = on_drain;
        if (request->path[1] == 's')
            http_begin(exchange, 200, "text/plain", NULL, -1);
    } else if (strcmp(request->path, "/short") == 0) {
        http_begin(exchange, 200, NULL, NULL, 10);
        http_write(exchange, "12345", 5);
        http_end(exchange);
    } else if (strcmp(request->path, "/long") == 0) {
        http_begin(exchange, 200, NULL, NULL, 3);
        http_write(exchange, "12345", 5);
        http_write(exchange, "12345", 5);
        http_end(exchange);
    } else if (strcmp(request->path, "/big") == 0) {
        static const char block[100000];
        http_respond(exchange, 200, NULL, block, sizeof(block));
    } else if (strcmp(request->path, "/none") == 0) {
        http_begin(exchange, 204, NULL, NULL, -1);
        http_end(exchange);
    } else {
        struct http_header header = {"X-Evil", "a\r\nSet-Cookie: b", NULL};
        http_begin(exchange, 404, NULL, &header, 0);
        http_end(exchange);
    }
}

/* Refuses the path "/no", and admits a body of 4 bytes. */
static void admission(struct http_exchange *exchange, void *context)
{
    static const char secret = 's';
    struct world *world = context;
    world->admissions++;
    assert_int_equal(exchange->request->body_size, 0);
    assert_int_equal(exchange->body_max, 200000);
    exchange->body_max = 4;
    exchange->admission = &secret;
    if (strcmp(exchange->request->path, "/no") == 0)
        http_respond(exchange, 401, "text/plain", "who?", 4);
}

static void name_users(struct http_exchange *exchange, void *context)
{
    exchange->user = http_header_get(exchange->request->headers, "X-User");
}

static void on_connection_closed(struct http_service *service)
{
    CONTAINER_OF(service, struct world, service)->closed_count++;
}

static int setup(void **state)
{
    struct world *world = mem_zalloc(sizeof(*world));
    world->loop = sim_loop_new(5, 1700000000000);
    world->task.callback = on_task;
    world->service = (struct http_service){
        .loop = world->loop,
        .handler = handler,
        .context = world,
        .header_max = 1000,
        .body_max = 200000,
        .handshake_timeout_ms = 1000,
        .header_timeout_ms = 2000,
        .body_timeout_ms = 3000,
        .idle_timeout_ms = 50000,
        .on_closed = on_connection_closed,
        .date_second = -1,
    };
    world->peer = memory_stream_new(world->loop, &world->closed);
    http_connection_new(&world->service, &world->peer->stream, "test:1");
    *state = world;
    return 0;
}

static void run(struct world *world)
{
    sim_loop_run_for(world->loop, 10);
}

static int teardown(void **state)
{
    struct world *world = *state;
    if (!world->closed)
        memory_stream_break(world->peer);
    run(world);
    assert_true(world->closed);
    assert_int_equal(world->closed_count, 1);
    assert_int_equal(world->service.connection_count, 0);
    assert_null(world->service.connections);
    loop_free(world->loop);
    free(world);
    return 0;
}

static void say(struct world *world, const char *text)
{
    memory_stream_send(world->peer, text, strlen(text));
    run(world);
}

/* All that was answered, without the Date lines. The peer forgets it. */
static const char *heard(struct world *world)
{
    static char text[4096];
    char *end = text;
    const char *data = world->peer->out.data;
    while (*data) {
        size_t line = strcspn(data, "\n") + (strchr(data, '\n') != NULL);
        if (strncmp(data, "Date: ", 6) == 0)
            assert_memory_equal(data, "Date: Tue, 14 Nov 2023 22:13:2", 30);
        else
            end = (char *)memcpy(end, data, line) + line;
        data += line;
    }
    *end = '\0';
    buf_clear(&world->peer->out);
    world->peer->taken = 0;
    return text;
}

#define GET(path) "GET " path " HTTP/1.1\r\nHost: x\r\n\r\n"
#define POST_ECHO(body, length)                                                                    \
    "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: " length "\r\n\r\n" body
#define ECHOED(body, length)                                                                       \
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: " length "\r\n\r\n" body

static void answers_one_after_another(void **state)
{
    struct world *world = *state;
    world->peer->piece = 3;
    say(world, POST_ECHO("hello", "5"));
    assert_string_equal(heard(world), ECHOED("hello", "5"));
    say(world, POST_ECHO("again", "5"));
    assert_string_equal(heard(world), ECHOED("again", "5"));
    assert_false(world->closed);
}

static void requests_sent_ahead_are_answered_in_order(void **state)
{
    struct world *world = *state;
    for (int later = 0; later < 2; later++) {
        world->end_in_later_turn = later;
        say(world, POST_ECHO("1", "1") POST_ECHO("2", "1") POST_ECHO("3", "1"));
        assert_string_equal(heard(world), ECHOED("1", "1") ECHOED("2", "1") ECHOED("3", "1"));
    }
}

static void many_requests_sent_ahead_all_get_their_turn(void **state)
{
    struct world *world = *state;
    for (int i = 0; i < 1000; i++)
        memory_stream_send(world->peer, POST_ECHO("1", "1"), strlen(POST_ECHO("1", "1")));
    run(world);
    assert_int_equal(world->requests, 1000);
    assert_false(world->closed);
}

static void a_request_sent_ahead_of_a_stream_waits(void **state)
{
    struct world *world = *state;
    say(world, GET("/stream") GET("/echo"));
    assert_string_equal(world->log, "/stream");
    assert_string_equal(heard(world), "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                                      "Transfer-Encoding: chunked\r\n\r\n");
    http_write(world->held, "event", 5);
    run(world);
    assert_string_equal(heard(world), "5\r\nevent\r\n");
    assert_int_equal(world->drained, 2);
    http_end(world->held);
    run(world);
    assert_string_equal(heard(world), "0\r\n\r\n" ECHOED("", "0"));
}

static void the_version_decides_how_an_answer_ends(void **state)
{
    struct world *world = *state;
    say(world, "GET /echo HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    assert_string_equal(heard(world), "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                                      "Content-Length: 0\r\nConnection: keep-alive\r\n\r\n");
    memory_stream_hold(world->peer, true); /* keeps what was said readable */
    say(world, "GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    http_write(world->held, "event", 5);
    http_end(world->held);
    run(world);
    assert_string_equal(heard(world), "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                                      "Connection: close\r\n\r\nevent");
    run(world);
    memory_stream_hold(world->peer, false);
    run(world);
    assert_true(world->closed);
}

static void what_has_no_body_has_none(void **state)
{
    struct world *world = *state;
    say(world, "HEAD /long HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_string_equal(heard(world), "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n");
    say(world, "HEAD /stream HTTP/1.1\r\nHost: x\r\n\r\n");
    http_write(world->held, "event", 5);
    http_end(world->held);
    run(world);
    assert_string_equal(heard(world), "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n");
    say(world, GET("/none"));
    assert_string_equal(heard(world), "HTTP/1.1 204 No Content\r\n\r\n");
    assert_false(world->closed);
}

static void a_header_value_cannot_begin_another_line(void **state)
{
    struct world *world = *state;
    say(world, GET("/evil"));
    assert_string_equal(heard(world), "HTTP/1.1 404 Not Found\r\nX-Evil: a  Set-Cookie: b\r\n"
                                      "Content-Length: 0\r\n\r\n");
}

static void an_answerer_that_breaks_its_promise_cannot_harm_the_next_answer(void **state)
{
    struct world *world = *state;
    say(world, GET("/long") GET("/none"));
    assert_string_equal(heard(world), "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n123"
                                      "HTTP/1.1 204 No Content\r\n\r\n");
    say(world, GET("/short") GET("/none"));
    assert_true(world->closed);
    assert_string_equal(world->log, "/long/none/short");
}

static void a_client_that_waits_is_told_to_go_on(void **state)
{
    struct world *world = *state;
    say(world,
        "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    assert_string_equal(heard(world), "HTTP/1.1 100 Continue\r\n\r\n");
    say(world, "ok");
    assert_string_equal(heard(world), ECHOED("ok", "2"));
}

static void what_is_refused_is_told_why_and_closed(void **state)
{
    struct world *world = *state;
    memory_stream_hold(world->peer, true);
    say(world, GET("/none") "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
                            "Content-Length: 200001\r\n\r\n" GET("/none"));
    assert_string_equal(
        heard(world), "HTTP/1.1 204 No Content\r\n\r\n"
                      "HTTP/1.1 413 Content Too Large\r\n"
                      "Content-Type: text/plain; charset=utf-8\r\nContent-Length: 47\r\n"
                      "Connection: close\r\n\r\nthe request's body is longer than 200000 bytes\n");
    memory_stream_hold(world->peer, false);
    run(world);
    assert_true(world->closed);
    assert_string_equal(world->log, "/none");
}

/* ---- admission ------------------------------------------------------------------------------- */

#define REFUSED(more)                                                                              \
    "HTTP/1.1 401 Unauthorized\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n" more "\r\nwh" \
    "o?"

static void what_is_refused_by_its_header_is_never_read(void **state)
{
    static const char *const heads[] = {
        "POST /no HTTP/1.1\r\nHost: x\r\nContent-Length: 190000\r\n\r\n",
        "POST /no HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
        /* Not asked to go on, and told the admission's reason instead of the limit's. */
        "POST /no HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 9000000\r\n\r\n",
    };
    struct world *world = *state;
    world->service.admit = admission;
    for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
        memory_stream_hold(world->peer, true); /* the answer is not read yet */
        say(world, heads[i]);
        say(world, "more of a body that nobody reads");
        assert_false(world->closed);
        assert_int_equal(world->service.connections->parse.body.capacity, 0);
        assert_string_equal(heard(world), REFUSED("Connection: close\r\n"));
        memory_stream_hold(world->peer, false);
        run(world);
        assert_true(world->closed);
        if (i + 1 < ARRAY_SIZE(heads)) { /* the fixture's end expects one connection */
            world->closed_count--;
            world->peer = memory_stream_new(world->loop, &world->closed);
            http_connection_new(&world->service, &world->peer->stream, "test:1");
            run(world);
        }
    }
    assert_int_equal(world->requests, 0);
    assert_int_equal(world->admissions, ARRAY_SIZE(heads));
}

static void a_refused_request_without_a_body_leaves_the_connection_open(void **state)
{
    struct world *world = *state;
    world->service.admit = admission;
    say(world,
        GET("/no") "DELETE /no HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n" GET("/none"));
    assert_string_equal(heard(world), REFUSED("") REFUSED("") "HTTP/1.1 204 No Content\r\n\r\n");
    assert_string_equal(world->log, "/none");
    assert_false(world->closed);
}

static void an_admitted_body_has_the_limit_of_its_admission(void **state)
{
    struct world *world = *state;
    world->service.admit = admission;
    say(world,
        "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
    assert_string_equal(heard(world), "HTTP/1.1 100 Continue\r\n\r\n");
    say(world, "four");
    assert_string_equal(heard(world), ECHOED("four", "4"));
    /* A client that did not wait is not told to go on. */
    say(world,
        "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\nfo");
    assert_string_equal(heard(world), "");
    say(world, "ur");
    assert_string_equal(heard(world), ECHOED("four", "4"));
    memory_stream_hold(world->peer, true);
    say(world, "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n");
    assert_non_null(strstr(heard(world), "the request's body is longer than 4 bytes\n"));
    assert_int_equal(world->requests, 2);
}

static void a_peer_that_leaves_in_the_body_leaves_nothing(void **state)
{
    struct world *world = *state;
    world->service.admit = admission;
    say(world, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nfo");
    memory_stream_break(world->peer);
    run(world);
    assert_true(world->closed);
    assert_int_equal(world->requests, 0);
}

/* ---- memory ---------------------------------------------------------------------------------- */

enum { MEMORY = 160 * 1024 };

static int memory_setup(void **state)
{
    setup(state);
    struct world *world = *state;
    world->service.admit = name_users;
    budget_group_init(&world->memory, MEMORY, MEMORY / 2);
    world->service.memory = &world->memory;
    return 0;
}

static int memory_teardown(void **state)
{
    struct world *world = *state;
    for (int i = 0; i < PEERS; i++)
        if (world->peers[i] && !world->peers_closed[i])
            memory_stream_break(world->peers[i]);
    if (!world->closed)
        memory_stream_break(world->peer);
    run(world);
    assert_int_equal(world->memory.total.used, 0);
    budget_group_release(&world->memory);
    world->closed_count = 1;
    return teardown(state);
}

/* A further connection, which says this and reads nothing yet; what it is told. */
static const char *say_as_other(struct world *world, int peer, const char *head, size_t body_size)
{
    static char body[MEMORY];
    world->peers[peer] = memory_stream_new(world->loop, &world->peers_closed[peer]);
    http_connection_new(&world->service, &world->peers[peer]->stream, "test:1");
    memory_stream_hold(world->peers[peer], true);
    memory_stream_send(world->peers[peer], head, strlen(head));
    memory_stream_send(world->peers[peer], body, body_size);
    run(world);
    return world->peers[peer]->out.data;
}

#define UPLOAD(user)                                                                               \
    "POST /echo HTTP/1.1\r\nHost: x\r\nX-User: " user "\r\nContent-Length: 100000\r\n\r\n"
#define DOWNLOAD(user) "GET /big HTTP/1.1\r\nHost: x\r\nX-User: " user "\r\n\r\n"

static void a_user_has_half_of_the_memory(void **state)
{
    struct world *world = *state;
    /* 30,000 bytes in a buffer of 32 KiB each, of 80 KiB. */
    assert_string_equal(say_as_other(world, 0, UPLOAD("ann"), 30000), "");
    assert_string_equal(say_as_other(world, 1, UPLOAD("ann"), 30000), "");
    const char *told = say_as_other(world, 2, UPLOAD("ann"), 30000);
    assert_non_null(strstr(told, "HTTP/1.1 429 Too Many Requests"));
    assert_non_null(strstr(told, "\r\nRetry-After: 1\r\n"));
    assert_non_null(strstr(told, "\r\nConnection: close\r\n"));
    assert_int_equal(world->memory.payers.count, 1);
    assert_string_equal(say_as_other(world, 3, UPLOAD("bob"), 30000), "");
    assert_in_range(world->memory.total.used, 3 * 32768, MEMORY);
    /* What is small is not counted, and always possible. */
    say(world, POST_ECHO("hello", "5"));
    assert_string_equal(heard(world), ECHOED("hello", "5"));
}

/* A newcomer takes the place of the largest, not of those who have little. */
static void when_all_is_taken_the_largest_user_loses(void **state)
{
    struct world *world = *state;
    assert_string_equal(say_as_other(world, 0, UPLOAD("ann"), 60000), "");
    assert_string_equal(say_as_other(world, 1, UPLOAD("bob"), 60000), "");
    assert_string_equal(say_as_other(world, 2, UPLOAD("eve"), 30000), "");
    assert_int_equal(world->memory.total.refused, 1);
    const char *ann = world->peers[0]->out.data, *bob = world->peers[1]->out.data;
    assert_true((strstr(ann, "429") != NULL) != (strstr(bob, "429") != NULL));
}

static void answers_that_nobody_reads_are_counted(void **state)
{
    struct world *world = *state;
    /* 100,000 bytes are more than a user gets, but it is the only one. */
    assert_non_null(strstr(say_as_other(world, 0, DOWNLOAD("ann"), 0), "HTTP/1.1 200 OK"));
    const char *told = say_as_other(world, 1, DOWNLOAD("ann"), 0);
    assert_non_null(strstr(told, "HTTP/1.1 429 Too Many Requests"));
    assert_non_null(strstr(told, "try again later\n"));
    assert_null(strstr(told, "\r\nConnection: close\r\n"));
    memory_stream_hold(world->peers[0], false); /* they read now */
    memory_stream_hold(world->peers[1], false);
    run(world);
    assert_int_equal(world->memory.total.used, 0);
    memory_stream_send(world->peers[1], DOWNLOAD("ann"), strlen(DOWNLOAD("ann")));
    run(world);
    assert_non_null(strstr(world->peers[1]->out.data, "HTTP/1.1 200 OK"));
}

/* Before it is known who asks, the address pays. */
static void a_header_is_paid_by_the_address(void **state)
{
    struct world *world = *state;
    world->service.header_max = MEMORY;
    assert_string_equal(say_as_other(world, 0, "GET / HTTP/1.1\r\nX: ", 0), "");
    char *header = mem_zalloc(30001);
    memset(header, 'x', 30000);
    memory_stream_send(world->peers[0], header, 30000);
    run(world);
    const char *name;
    void *payer;
    assert_true(map_next(&world->memory.payers, &(size_t){0}, &name, &payer));
    assert_string_equal(name, "test");
    free(header);
}

static void connection_close_is_honoured(void **state)
{
    struct world *world = *state;
    say(world, "GET /none HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" GET("/echo"));
    assert_true(world->closed);
    assert_string_equal(world->log, "/none");
}

/* ---- clocks ---------------------------------------------------------------------------------- */

static void a_slow_header_ends_in_408(void **state)
{
    struct world *world = *state;
    for (int i = 0; i < 19; i++) {
        say(world, i ? "a" : "GET /");
        sim_loop_run_for(world->loop, 90);
    }
    memory_stream_hold(world->peer, true);
    assert_false(world->closed);
    sim_loop_run_for(world->loop, 200);
    assert_non_null(strstr(heard(world), "the request's header took too long\n"));
    memory_stream_hold(world->peer, false);
    run(world);
    assert_true(world->closed);
}

static void a_slow_body_ends_in_408(void **state)
{
    struct world *world = *state;
    say(world, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n");
    sim_loop_run_for(world->loop, 2500);
    say(world, "abc");
    assert_false(world->closed);
    memory_stream_hold(world->peer, true);
    sim_loop_run_for(world->loop, 1000);
    assert_non_null(strstr(heard(world), "the request's body took too long\n"));
    assert_int_equal(world->requests, 0);
}

static void a_peer_that_says_nothing_is_closed(void **state)
{
    struct world *world = *state;
    sim_loop_run_for(world->loop, 1900);
    assert_false(world->closed);
    sim_loop_run_for(world->loop, 200);
    assert_true(world->closed);
}

static void idleness_between_requests_may_be_longer(void **state)
{
    struct world *world = *state;
    say(world, GET("/none"));
    sim_loop_run_for(world->loop, 49000);
    assert_false(world->closed);
    say(world, GET("/none"));
    assert_int_equal(world->requests, 2);
    sim_loop_run_for(world->loop, 50001);
    assert_true(world->closed);
}

static void an_answer_may_take_any_time(void **state)
{
    struct world *world = *state;
    say(world, GET("/stream"));
    sim_loop_run_for(world->loop, 24 * 3600 * 1000);
    http_write(world->held, "late", 4);
    http_end(world->held);
    run(world);
    assert_non_null(strstr(world->peer->out.data, "late"));
}

/* ---- peers that leave ------------------------------------------------------------------------ */

static void a_watcher_that_leaves_is_noticed(void **state)
{
    struct world *world = *state;
    say(world, GET("/stream"));
    memory_stream_send_end(world->peer);
    run(world);
    assert_int_equal(world->cancelled, 1);
    assert_true(world->closed);
}

static void a_watcher_that_leaves_is_noticed_behind_unread_requests(void **state)
{
    struct world *world = *state;
    char ahead[200000];
    memset(ahead, 'x', sizeof(ahead));
    say(world, GET("/stream"));
    world->peer->piece = 1000;
    memory_stream_send(world->peer, ahead, sizeof(ahead));
    run(world);
    assert_true(world->peer->paused);
    assert_true(world->peer->in.size > 100000);
    memory_stream_send_end(world->peer);
    run(world);
    assert_int_equal(world->cancelled, 1);
    assert_true(world->closed);
}

static void a_peer_that_only_ends_its_side_gets_its_answers(void **state)
{
    struct world *world = *state;
    say(world, GET("/hold") GET("/none"));
    memory_stream_send_end(world->peer);
    run(world);
    assert_false(world->closed);
    memory_stream_hold(world->peer, true);
    http_respond(world->held, 200, NULL, "late", 4);
    run(world);
    assert_string_equal(heard(world), "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate"
                                      "HTTP/1.1 204 No Content\r\n\r\n");
    memory_stream_hold(world->peer, false);
    run(world);
    assert_true(world->closed);
}

static void an_answerer_that_is_not_told_may_still_answer(void **state)
{
    struct world *world = *state;
    say(world, GET("/hold"));
    memory_stream_break(world->peer);
    run(world);
    assert_true(world->closed);
    assert_int_equal(http_pending(world->held), 0);
    http_respond(world->held, 200, NULL, "late", 4);
}

static void closing_from_our_side_cancels(void **state)
{
    struct world *world = *state;
    say(world, GET("/stream"));
    http_connection_close(world->service.connections);
    assert_int_equal(world->cancelled, 1);
    http_connection_close(world->service.connections);
    run(world);
    assert_true(world->closed);
}

static void a_peer_that_does_not_read_gets_no_further_requests_taken(void **state)
{
    struct world *world = *state;
    memory_stream_hold(world->peer, true);
    for (int i = 0; i < 100; i++)
        memory_stream_send(world->peer, GET("/big"), strlen(GET("/big")));
    run(world);
    assert_int_equal(world->requests, 1); /* its answer passes the mark of 16 KiB */
    memory_stream_hold(world->peer, false);
    run(world);
    assert_int_equal(world->requests, 100);
    assert_false(world->closed);
}

int main(void)
{
#define TEST(test)        cmocka_unit_test_setup_teardown(test, setup, teardown)
#define MEMORY_TEST(test) cmocka_unit_test_setup_teardown(test, memory_setup, memory_teardown)
    const struct CMUnitTest tests[] = {
        TEST(answers_one_after_another),
        TEST(requests_sent_ahead_are_answered_in_order),
        TEST(many_requests_sent_ahead_all_get_their_turn),
        TEST(a_request_sent_ahead_of_a_stream_waits),
        TEST(the_version_decides_how_an_answer_ends),
        TEST(what_has_no_body_has_none),
        TEST(a_header_value_cannot_begin_another_line),
        TEST(an_answerer_that_breaks_its_promise_cannot_harm_the_next_answer),
        TEST(a_client_that_waits_is_told_to_go_on),
        TEST(what_is_refused_is_told_why_and_closed),
        TEST(what_is_refused_by_its_header_is_never_read),
        TEST(a_refused_request_without_a_body_leaves_the_connection_open),
        TEST(an_admitted_body_has_the_limit_of_its_admission),
        TEST(a_peer_that_leaves_in_the_body_leaves_nothing),
        MEMORY_TEST(a_user_has_half_of_the_memory),
        MEMORY_TEST(when_all_is_taken_the_largest_user_loses),
        MEMORY_TEST(answers_that_nobody_reads_are_counted),
        MEMORY_TEST(a_header_is_paid_by_the_address),
        TEST(connection_close_is_honoured),
        TEST(a_slow_header_ends_in_408),
        TEST(a_slow_body_ends_in_408),
        TEST(a_peer_that_says_nothing_is_closed),
        TEST(idleness_between_requests_may_be_longer),
        TEST(an_answer_may_take_any_time),
        TEST(a_watcher_that_leaves_is_noticed),
        TEST(a_watcher_that_leaves_is_noticed_behind_unread_requests),
        TEST(a_peer_that_only_ends_its_side_gets_its_answers),
        TEST(an_answerer_that_is_not_told_may_still_answer),
        TEST(closing_from_our_side_cancels),
        TEST(a_peer_that_does_not_read_gets_no_further_requests_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
