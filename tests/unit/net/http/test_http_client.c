/* Tests the https transport with our own server: requests, responses, streams and their ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "http_client_world.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "loop/sim/sim_loop.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void a_request_arrives_unchanged(void **state)
{
    struct world *world = *state;
    static const struct {
        const char *method, *body, *expected;
    } rows[] = {
        {"GET", "", "GET /describe?a=b%20c 0 [Bearer secret] [-] [] [a  X-More: b] [-]"},
        {"POST", "", "POST /describe?a=b%20c 0 [Bearer secret] [-] [] [a  X-More: b] [-]"},
        {"PATCH", "{}", "PATCH /describe?a=b%20c 2 [Bearer secret] [-] [] [a  X-More: b] [-]"},
        {"PUT", "x", "PUT /describe?a=b%20c 1 [Bearer secret] [-] [] [a  X-More: b] [-]"},
        {"DELETE", "", "DELETE /describe?a=b%20c 0 [Bearer secret] [-] [] [a  X-More: b] [-]"},
        {"DELETE", "{}", "DELETE /describe?a=b%20c 2 [Bearer secret] [-] [] [a  X-More: b] [-]"},
        {"HEAD", "", ""},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct answer answer = {0};
        answer_start(&answer, world, rows[i].method, "/describe", rows[i].body,
                     strlen(rows[i].body), 5000);
        assert_int_equal(answer.ended, 0);
        loop_run(world->loop);
        assert_int_equal(answer.ended, 1);
        assert_int_equal(answer.err.code, ERR_NONE);
        assert_int_equal(answer.status, 202);
        assert_string_equal(answer.type, "text/plain");
        assert_string_equal(answer.body.data, rows[i].expected);
        buf_release(&answer.body);
    }
    assert_int_equal(world->peer_count, 1); /* one connection for all */
}

static void a_path_is_escaped_and_a_prefix_kept(void **state)
{
    struct world *world = *state;
    char url[100];
    snprintf(url, sizeof(url), "%sk8s/cluster//", world->url);
    world_use_client(world,
                     &(struct http_client_options){.base_url = url, .ca_pem = world->ca.cert_pem});
    struct answer answer = {0};
    answer_start(&answer, world, "GET", "/../a b?c#\xc3\xa4", "", 0, 0);
    loop_run(world->loop);
    assert_int_equal(answer.status, 200);
    assert_string_equal(world->path, "/k8s/cluster/../a b?c#\xc3\xa4");
    buf_release(&answer.body);
}

static void large_bodies_are_sent_and_received(void **state)
{
    struct world *world = *state;
    struct answer answer = {0};
    size_t size = 3000000;
    char *body = mem_alloc(size);
    for (size_t i = 0; i < size; i++)
        body[i] = (char)(i * 7 >> 2);
    answer_start(&answer, world, "POST", "/echo", body, size, 0);
    loop_run(world->loop);
    assert_int_equal(answer.body.size, size);
    assert_memory_equal(answer.body.data, body, size);
    free(body);
    buf_release(&answer.body);
}

static void a_stream_arrives_in_pieces_and_can_be_cancelled(void **state)
{
    struct world *world = *state;
    struct answer answer = {.stop_on_data = true};
    answer_start(&answer, world, "GET", "/stream", "", 0, 0);
    loop_run(world->loop);
    assert_string_equal(answer.body.data, "first");
    http_write(world->held, "second", 6);
    loop_run(world->loop);
    assert_string_equal(answer.body.data, "firstsecond");
    http_cancel(world->transport, answer.call);
    loop_run(world->loop);
    assert_int_equal(world->cancelled, 1);
    assert_int_equal(answer.ended, 0);
    buf_release(&answer.body);
}

static void a_callback_may_cancel_free_and_start_calls(void **state)
{
    struct world *world = *state;
    struct answer cancels = {.cancel_on_data = true};
    answer_start(&cancels, world, "GET", "/stream", "", 0, 0);
    loop_run(world->loop);
    assert_int_equal(world->cancelled, 1);

    struct answer second = {.free_on_end = true}, first = {.start_on_end = &second};
    answer_start(&first, world, "GET", "/echo", "", 0, 0);
    loop_run(world->loop);
    assert_int_equal(first.ended + second.ended, 2);
    assert_null(world->transport);

    world_use_client(
        world, &(struct http_client_options){.base_url = world->url, .ca_pem = world->ca.cert_pem});
    struct answer frees = {.free_on_data = true}, bystander = {0};
    answer_start(&bystander, world, "GET", "/hold", "", 0, 0);
    answer_start(&frees, world, "POST", "/echo", "x", 1, 0);
    loop_run(world->loop);
    assert_null(world->transport);
    assert_int_equal(frees.ended + bystander.ended, 0);
    buf_release(&cancels.body);
    buf_release(&frees.body);
}

/* On a busy machine a call may time out before its request has reached the server. Then the next
 * call has a longer timeout. */
static void a_timeout_ends_the_call_on_both_sides(void **state)
{
    struct world *world = *state;
    for (int64_t timeout_ms = 30; !world->held && !world->cancelled; timeout_ms *= 4) {
        struct answer answer = {0};
        char expected[128];
        answer_start(&answer, world, "GET", "/hold", "", 0, timeout_ms);
        while (!answer.ended)
            loop_run(world->loop);
        assert_int_equal(answer.err.code, ERR_TIMEOUT);
        snprintf(expected, sizeof(expected), "/hold?a=b%%20c: no complete response within %lld ms",
                 (long long)timeout_ms);
        assert_non_null(strstr(answer.err.message, expected));
    }
    while (!world->cancelled)
        loop_run(world->loop);
}

static void many_calls_at_once_all_end(void **state)
{
    enum { MANY = 40 };
    struct world *world = *state;
    struct answer answers[MANY] = {0};
    for (int round = 0; round < 2; round++) {
        int ended = 0;
        for (int i = 0; i < MANY; i++) {
            char body[16];
            answers[i] = (struct answer){0};
            int size = snprintf(body, sizeof(body), "body %d", i);
            answer_start(&answers[i], world, "POST", "/echo", body, (size_t)size, 0);
        }
        while (ended < MANY) {
            loop_run(world->loop);
            ended = 0;
            for (int i = 0; i < MANY; i++)
                ended += answers[i].ended;
        }
        for (int i = 0; i < MANY; i++) {
            char body[16];
            snprintf(body, sizeof(body), "body %d", i);
            assert_string_equal(answers[i].body.data, body);
            buf_release(&answers[i].body);
        }
    }
    assert_true(world->peer_count <= MANY);
}

static void a_closed_port_is_unavailable(void **state)
{
    struct world *world = *state;
    struct answer answer = {0};
    char url[64];
    /* The port is bound, so that no other process can listen on it. */
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    _cleanup_fd_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d", ntohs(address.sin_port));
    world_use_client(world, &(struct http_client_options){.base_url = url});
    answer_start(&answer, world, "GET", "/echo", "", 0, 0);
    loop_run(world->loop);
    assert_int_equal(answer.ended, 1);
    assert_int_equal(answer.err.code, ERR_UNAVAILABLE);
    assert_memory_equal(answer.err.message, "GET http://127.0.0.1:", 21);
}

static void a_truncated_response_is_an_error(void **state)
{
    struct world *world = *state;
    struct answer answer = {.stop_on_data = true};
    answer_start(&answer, world, "GET", "/stream", "", 0, 0);
    loop_run(world->loop);
    assert_string_equal(answer.body.data, "first");
    http_server_close(world->server, world_server_closed, world);
    while (!answer.ended || !world->server_closed)
        loop_run(world->loop);
    assert_int_equal(answer.err.code, ERR_UNAVAILABLE);
    buf_release(&answer.body);

    /* A new server, because the teardown needs one. */
    struct err err = ERR_INIT;
    struct http_server_options options = {0};
    http_listen("127.0.0.1", 0, &options.listen_fd, NULL, &err);
    http_server_new(world->loop, &options, world_handle, world, &world->server, &err);
    world->server_closed = false;
}

static void invalid_urls_and_certificates_are_rejected_at_once(void **state)
{
    struct world *world = *state;
    struct err err = ERR_INIT;
    struct http_transport *transport = NULL;
    static const char *const bad[] = {"", "ftp://x", "127.0.0.1:80", "https://", "nonsense"};
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        assert_int_equal(http_client_new(world->loop,
                                         &(struct http_client_options){.base_url = bad[i]},
                                         &transport, &err),
                         -ERR_INVALID);
    assert_string_equal(err.message, "server 'nonsense': must be a URL like https://host:port");
    assert_int_equal(
        http_client_new(world->loop,
                        &(struct http_client_options){.base_url = world->url, .cert_pem = "x"},
                        &transport, &err),
        -ERR_INVALID);
    struct loop *sim = sim_loop_new(1, 0);
    assert_int_equal(http_client_new(sim, &(struct http_client_options){.base_url = world->url},
                                     &transport, &err),
                     -ERR_UNSUPPORTED);
    loop_free(sim);
    assert_null(transport);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_request_arrives_unchanged),
        TEST(a_path_is_escaped_and_a_prefix_kept),
        TEST(large_bodies_are_sent_and_received),
        TEST(a_stream_arrives_in_pieces_and_can_be_cancelled),
        TEST(a_callback_may_cancel_free_and_start_calls),
        TEST(a_timeout_ends_the_call_on_both_sides),
        TEST(many_calls_at_once_all_end),
        TEST(a_closed_port_is_unavailable),
        TEST(a_truncated_response_is_an_error),
        TEST(invalid_urls_and_certificates_are_rejected_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
