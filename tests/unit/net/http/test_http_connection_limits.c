/* Tests input that a server's connection rejects: requests rejected by their header, and bytes
 * beyond the memory of all connections or of one user. On streams in memory and in virtual time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "http_connection_world.h"

#include "base/mem.h"
#include "loop/sim/sim_loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- admission ------------------------------------------------------------------------------- */

/* Rejects the path "/no", and admits a body of 4 bytes. */
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

#define REFUSED(more)                                                                              \
    "HTTP/1.1 401 Unauthorized\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n" more "\r\nwh" \
    "o?"

static void the_body_of_a_rejected_request_is_never_read(void **state)
{
    static const char *const heads[] = {
        "POST /no HTTP/1.1\r\nHost: x\r\nContent-Length: 190000\r\n\r\n",
        "POST /no HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
        /* The client gets no 100 Continue, and gets the rejection of the admission instead of that
         * of the limit. */
        "POST /no HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 9000000\r\n\r\n",
    };
    struct world *world = *state;
    world->service.admit = admission;
    for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
        memory_stream_hold(world->peer, true); /* the client does not read the answer yet */
        say(world, heads[i]);
        say(world, "more of a body that nobody reads");
        assert_false(world->closed);
        assert_int_equal(LIST_FIRST(&world->service.connections, struct http_connection, link)
                             ->parse.body.capacity,
                         0);
        assert_string_equal(heard(world), REFUSED("Connection: close\r\n"));
        memory_stream_hold(world->peer, false);
        run(world);
        assert_true(world->closed);
        if (i + 1 < ARRAY_SIZE(heads)) { /* the teardown expects one connection */
            world->closed_count--;
            world->peer = memory_stream_new(world->loop, &world->closed);
            http_connection_new(&world->service, &world->peer->stream, "test:1");
            run(world);
        }
    }
    assert_int_equal(world->requests, 0);
    assert_int_equal(world->admissions, ARRAY_SIZE(heads));
}

static void a_rejected_request_without_a_body_keeps_the_connection(void **state)
{
    struct world *world = *state;
    world->service.admit = admission;
    say(world,
        GET("/no") "DELETE /no HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n" GET("/none"));
    assert_string_equal(heard(world), REFUSED("") REFUSED("") "HTTP/1.1 204 No Content\r\n\r\n");
    assert_string_equal(world->log, "/none");
    assert_false(world->closed);
}

static void the_admission_limits_the_body(void **state)
{
    struct world *world = *state;
    world->service.admit = admission;
    say(world,
        "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
    assert_string_equal(heard(world), "HTTP/1.1 100 Continue\r\n\r\n");
    say(world, "four");
    assert_string_equal(heard(world), ECHOED("four", "4"));
    /* A client that did not wait for 100 Continue gets none. */
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

static void a_disconnect_in_the_body_leaks_nothing(void **state)
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

static void name_users(struct http_exchange *exchange, void *context)
{
    exchange->user = http_header_get(exchange->request->headers, "X-User");
}

enum { MEMORY = 160 * 1024 };

static int memory_setup(void **state)
{
    connection_world_setup(state);
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
    return connection_world_teardown(state);
}

/* Opens a further connection, which sends this request and reads nothing yet. Returns its
 * response. */
static const char *send_on_new_connection(struct world *world, int peer, const char *head,
                                          size_t body_size)
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

static void a_user_may_use_half_of_the_memory(void **state)
{
    struct world *world = *state;
    /* 30,000 bytes take a buffer of 32 KiB each, out of 80 KiB. */
    assert_string_equal(send_on_new_connection(world, 0, UPLOAD("ann"), 30000), "");
    assert_string_equal(send_on_new_connection(world, 1, UPLOAD("ann"), 30000), "");
    const char *told = send_on_new_connection(world, 2, UPLOAD("ann"), 30000);
    assert_non_null(strstr(told, "HTTP/1.1 429 Too Many Requests"));
    assert_non_null(strstr(told, "\r\nRetry-After: 1\r\n"));
    assert_non_null(strstr(told, "\r\nConnection: close\r\n"));
    assert_int_equal(world->memory.payers.count, 1);
    assert_string_equal(send_on_new_connection(world, 3, UPLOAD("bob"), 30000), "");
    assert_in_range(world->memory.total.used, 3 * 32768, MEMORY);
    /* A small request is not counted and always possible. */
    say(world, POST_ECHO("hello", "5"));
    assert_string_equal(heard(world), ECHOED("hello", "5"));
}

/* If all memory is used, a new connection displaces that of the largest user, not of small ones. */
static void the_largest_user_is_displaced_if_memory_is_full(void **state)
{
    struct world *world = *state;
    assert_string_equal(send_on_new_connection(world, 0, UPLOAD("ann"), 60000), "");
    assert_string_equal(send_on_new_connection(world, 1, UPLOAD("bob"), 60000), "");
    assert_string_equal(send_on_new_connection(world, 2, UPLOAD("eve"), 30000), "");
    assert_int_equal(world->memory.total.refused, 1);
    const char *ann = world->peers[0]->out.data, *bob = world->peers[1]->out.data;
    assert_true((strstr(ann, "429") != NULL) != (strstr(bob, "429") != NULL));
}

static void unread_responses_are_counted(void **state)
{
    struct world *world = *state;
    /* 100,000 bytes are above the limit of a user, but this request is the user's only one. */
    assert_non_null(
        strstr(send_on_new_connection(world, 0, DOWNLOAD("ann"), 0), "HTTP/1.1 200 OK"));
    const char *told = send_on_new_connection(world, 1, DOWNLOAD("ann"), 0);
    assert_non_null(strstr(told, "HTTP/1.1 429 Too Many Requests"));
    assert_non_null(strstr(told, "try again later\n"));
    assert_null(strstr(told, "\r\nConnection: close\r\n"));
    memory_stream_hold(world->peers[0], false); /* the clients read now */
    memory_stream_hold(world->peers[1], false);
    run(world);
    assert_int_equal(world->memory.total.used, 0);
    memory_stream_send(world->peers[1], DOWNLOAD("ann"), strlen(DOWNLOAD("ann")));
    run(world);
    assert_non_null(strstr(world->peers[1]->out.data, "HTTP/1.1 200 OK"));
}

/* Each response is above the limit of a user, but only its first piece is pending. */
static void only_the_pending_piece_of_a_response_is_counted(void **state)
{
    static const char ASK[] = "GET /pieces HTTP/1.1\r\nHost: x\r\nX-User: ann\r\n\r\n";
    struct world *world = *state;
    for (int i = 0; i < 2; i++)
        assert_non_null(strstr(send_on_new_connection(world, i, ASK, 0), "HTTP/1.1 200 OK"));
    assert_in_range(world->memory.total.used, 2 * 20000, MEMORY / 2);
    for (int i = 0; i < 2; i++) {
        memory_stream_hold(world->peers[i], false);
        run(world);
        assert_true(world->peers[i]->out.size > 100000);
    }
    assert_int_equal(world->memory.total.used, 0);
}

/* The memory of a request's handler is counted, unless another thread is still working on it. */
static void memory_in_use_by_another_thread_is_not_counted(void **state)
{
    struct world *world = *state;
    send_on_new_connection(world, 0, "GET /lent HTTP/1.1\r\nHost: x\r\n\r\n", 0);
    assert_int_equal(world->memory.total.used, 0);
    send_on_new_connection(world, 1, "GET /parsed HTTP/1.1\r\nHost: x\r\n\r\n", 0);
    assert_in_range(world->memory.total.used, 50000, MEMORY);
}

/* Before the user is known, memory is charged to the address. */
static void a_header_is_charged_to_the_address(void **state)
{
    struct world *world = *state;
    world->service.header_max = MEMORY;
    assert_string_equal(send_on_new_connection(world, 0, "GET / HTTP/1.1\r\nX: ", 0), "");
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

static void reject_all(struct http_exchange *exchange, void *context)
{
    http_respond(exchange, 401, "text/plain", "no", 2);
}

/* There is no room for the header, but the request has been answered already. */
static void a_rejected_request_gets_one_response(void **state)
{
    struct world *world = *state;
    world->service.header_max = MEMORY;
    world->service.admit = reject_all;
    _cleanup_free_ char *padding = mem_zalloc(30001);
    memset(padding, 'x', 30000);
    _cleanup_free_ char *begun = mem_printf("GET / HTTP/1.1\r\nX: %s", padding);
    _cleanup_free_ char *whole = mem_printf("GET / HTTP/1.1\r\nHost: x\r\nX: %s\r\n\r\n", padding);
    assert_string_equal(send_on_new_connection(world, 0, begun, 0), "");
    const char *told = send_on_new_connection(world, 1, whole, 0);
    assert_non_null(strstr(told, "HTTP/1.1 401 "));
    assert_null(strstr(told, "HTTP/1.1 429 "));
}

int main(void)
{
#define MEMORY_TEST(test) cmocka_unit_test_setup_teardown(test, memory_setup, memory_teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_body_of_a_rejected_request_is_never_read),
        TEST(a_rejected_request_without_a_body_keeps_the_connection),
        TEST(the_admission_limits_the_body),
        TEST(a_disconnect_in_the_body_leaks_nothing),
        MEMORY_TEST(a_user_may_use_half_of_the_memory),
        MEMORY_TEST(the_largest_user_is_displaced_if_memory_is_full),
        MEMORY_TEST(unread_responses_are_counted),
        MEMORY_TEST(only_the_pending_piece_of_a_response_is_counted),
        MEMORY_TEST(memory_in_use_by_another_thread_is_not_counted),
        MEMORY_TEST(a_header_is_charged_to_the_address),
        MEMORY_TEST(a_rejected_request_gets_one_response),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
