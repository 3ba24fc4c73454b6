/* Tests the server on real sockets, plain and TLS: every request gets its whole response, in
 * order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "http_server_world.h"

#include "base/mem.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static void echo_twice(struct world *world)
{
    struct client client;
    struct buf buf;
    buf_init(&buf, 1 << 20);
    client_open(&client, world);
    for (int i = 0; i < 2; i++) {
        client_say(&client, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello");
        buf_clear(&buf);
        client_read_until(&client, &buf, "hello");
        assert_non_null(strstr(buf.data, "HTTP/1.1 200 OK\r\n"));
        assert_non_null(strstr(buf.data, "Content-Length: 5\r\n"));
    }
    client_say(&client, GET("/ticks"));
    buf_clear(&buf);
    client_read_until(&client, &buf, "0\r\n\r\n");
    assert_non_null(strstr(buf.data, "\r\n\r\n5\r\ntick\n\r\n5\r\ntick\n\r\n5\r\ntick\n\r\n0\r\n"));
    client_close(&client);
    buf_release(&buf);
}

static void requests_and_streams_are_answered(void **state)
{
    serve_client(false, NULL, echo_twice);
    serve_client(true, NULL, echo_twice);
}

static void read_big_slowly(struct world *world)
{
    struct client client;
    struct buf buf;
    buf_init(&buf, 1 << 20);
    client_open(&client, world);
    client_say(&client, GET("/big") GET("/big"));
    for (int i = 0; i < 2; i++) {
        buf_clear(&buf);
        client_read_until(&client, &buf, "\r\n\r\n");
        unsigned char data[5000];
        for (size_t at = 0; at < BIG;) {
            size_t size = client_read(&client, data, BIG - at < 5000 ? BIG - at : 5000);
            assert_true(size > 0);
            for (size_t j = 0; j < size; j++, at++)
                if (data[j] != (unsigned char)(at * 31 >> 3))
                    fail_msg("byte %zu is wrong", at);
        }
    }
    client_close(&client);
    buf_release(&buf);
}

static void large_responses_arrive_completely(void **state)
{
    serve_client(false, NULL, read_big_slowly);
    serve_client(true, NULL, read_big_slowly);
}

static void send_big(struct world *world)
{
    struct client client;
    struct buf buf;
    buf_init(&buf, 8 << 20);
    client_open(&client, world);
    size_t size = 2900000;
    char *body = mem_alloc(size);
    for (size_t i = 0; i < size; i++)
        body[i] = (char)('a' + i % 23);
    char head[128];
    snprintf(head, sizeof(head), "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n", size);
    client_say(&client, head);
    client_send(&client, body, size);
    client_read_until(&client, &buf, "\r\n\r\n");
    char *got = mem_alloc(size);
    for (size_t at = 0; at < size;)
        at += client_read(&client, got + at, size - at);
    assert_memory_equal(body, got, size);
    free(body);
    free(got);
    client_close(&client);
    buf_release(&buf);
}

static void large_requests_arrive_completely(void **state)
{
    serve_client(false, NULL, send_big);
    serve_client(true, NULL, send_big);
}

static void expect_rejection(struct world *world)
{
    struct client client;
    struct buf buf;
    buf_init(&buf, 1 << 20);
    client_open(&client, world);
    /* The body is much larger than the socket buffers. The response must arrive although we are
     * still sending. */
    client_say(&client, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\n\r\n");
    char block[10000] = {0};
    for (int i = 0; i < 100; i++)
        client_send(&client, block, sizeof(block));
    client_read_until(&client, &buf, "bytes\n");
    assert_non_null(strstr(buf.data, "HTTP/1.1 413 "));
    assert_non_null(strstr(buf.data, "\r\n\r\nthe request's body is longer than 3145728 bytes\n"));
    expect_end(&client);
    client_close(&client);

    client_open(&client, world);
    client_say(&client, "GARBAGE\r\n\r\n");
    buf_clear(&buf);
    client_read_until(&client, &buf, "HTTP/1.1: ");
    assert_non_null(strstr(buf.data, "HTTP/1.1 400 Bad Request"));
    expect_end(&client);
    client_close(&client);
    buf_release(&buf);
}

static void a_rejection_arrives_during_a_long_body(void **state)
{
    serve_client(false, NULL, expect_rejection);
    serve_client(true, NULL, expect_rejection);
}

static void many_at_once(struct world *world)
{
    enum { MANY = 150 };
    struct client *clients = mem_calloc(MANY, sizeof(*clients));
    struct buf buf;
    buf_init(&buf, 1 << 20);
    for (int i = 0; i < MANY; i++)
        client_open(&clients[i], world);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < MANY; i++)
            client_say(&clients[i], "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nmany");
        for (int i = 0; i < MANY; i++) {
            buf_clear(&buf);
            client_read_until(&clients[i], &buf, "many");
            assert_non_null(strstr(buf.data, "200 OK"));
        }
    }
    for (int i = 0; i < MANY; i++)
        client_close(&clients[i]);
    free(clients);
    buf_release(&buf);
}

static void many_connections_are_served(void **state)
{
    serve_client(false, NULL, many_at_once);
    serve_client(true, NULL, many_at_once);
}

/* More pipelined requests than the server buffers. It must stop reading and answer all of them
 * later, including those that TLS has already read from the socket. */
static void send_pipelined(struct world *world)
{
    enum { AHEAD = 3000 };
    static const char request[] =
        "POST /ahead HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nabcd";
    struct client client;
    struct buf all;
    buf_init(&all, 1 << 20);
    client_open(&client, world);
    buf_append_str(&all, GET("/ticks"));
    for (int i = 0; i < AHEAD; i++)
        buf_append_str(&all, request);
    client_send(&client, all.data, all.size);
    buf_release(&all);
    buf_init(&all, 16 << 20);
    size_t answers = 0, seen = 0;
    while (answers < AHEAD + 1) {
        char *room = buf_reserve(&all, 65536);
        size_t size = client_read(&client, room, 65536);
        assert_true(size > 0);
        buf_commit(&all, size);
        for (const char *at; (at = strstr(all.data + seen, "HTTP/1.1 200 OK")); answers++)
            seen = (size_t)(at - all.data) + 1;
    }
    client_close(&client);
    buf_release(&all);
}

static void all_pipelined_requests_are_answered(void **state)
{
    serve_client(false, NULL, send_pipelined);
    serve_client(true, NULL, send_pipelined);
}

/* Without a free descriptor the server waits for one, and then goes on. */
static void use_up_descriptors(struct world *world)
{
    struct client first, waiting;
    struct buf buf;
    buf_init(&buf, 1 << 20);
    client_open(&first, world);
    client_say(&first, GET("/forever"));
    client_read_until(&first, &buf, "begin");
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    int fds[64], count = 0;
    struct rlimit tight = limit;
    tight.rlim_cur = 60;
    setrlimit(RLIMIT_NOFILE, &tight);
    while (count < 64 && (fds[count] = dup(0)) >= 0)
        count++;
    close(fds[--count]); /* one for the client, none for the server */
    client_open(&waiting, world);
    client_say(&waiting, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nlate");
    char byte;
    assert_int_equal(recv(waiting.fd, &byte, 1, MSG_DONTWAIT), -1);
    while (count)
        close(fds[--count]);
    buf_clear(&buf);
    client_read_until(&waiting, &buf, "late");
    assert_non_null(strstr(buf.data, "late"));
    setrlimit(RLIMIT_NOFILE, &limit);
    client_close(&first);
    client_close(&waiting);
    buf_release(&buf);
}

static void the_server_waits_for_a_free_descriptor(void **state)
{
    serve_client(false, NULL, use_up_descriptors);
}

static void disconnect_in_every_way(struct world *world)
{
    enum { WATCHERS = 60 };
    struct client clients[WATCHERS], asker;
    struct buf buf;
    buf_init(&buf, 1 << 20);
    for (int i = 0; i < WATCHERS; i++) {
        client_open(&clients[i], world);
        client_say(&clients[i], GET("/forever"));
        buf_clear(&buf);
        client_read_until(&clients[i], &buf, "begin");
        assert_non_null(strstr(buf.data, "begin"));
    }
    for (int i = 0; i < WATCHERS; i++) {
        struct linger abrupt = {.l_onoff = 1};
        if (i % 3 == 0)
            setsockopt(clients[i].fd, SOL_SOCKET, SO_LINGER, &abrupt, sizeof(abrupt));
        if (i % 3 == 1 && clients[i].ssl)
            SSL_shutdown(clients[i].ssl);
        client_close(&clients[i]);
    }
    /* A client that disconnects in the middle of a large response. */
    client_open(&asker, world);
    client_say(&asker, GET("/big"));
    char data[1000];
    client_read(&asker, data, sizeof(data));
    client_close(&asker);

    client_open(&asker, world);
    do {
        client_say(&asker, GET("/cancelled"));
        buf_clear(&buf);
        client_read_until(&asker, &buf, "\r\n\r\n");
        size_t length = strstr(buf.data, "Content-Length: 2") ? 2 : 1;
        while (length)
            length -= client_read(&asker, data, length);
    } while (atomic_load(&world->cancelled) < WATCHERS);
    client_close(&asker);
    buf_release(&buf);
}

static void disconnected_watchers_are_detected(void **state)
{
    serve_client(false, NULL, disconnect_in_every_way);
    serve_client(true, NULL, disconnect_in_every_way);
}

static void stay_forever(struct world *world)
{
    struct client client;
    struct buf buf;
    buf_init(&buf, 1 << 20);
    client_open(&client, world);
    client_say(&client, GET("/forever"));
    client_read_until(&client, &buf, "begin");
    SSL_free(client.ssl); /* the descriptor stays open until the process ends */
    buf_release(&buf);
}

static void closing_the_server_cancels_streams(void **state)
{
    serve_client(false, NULL, stay_forever);
    serve_client(true, NULL, stay_forever);
}

static void listening_errors_have_a_message(void **state)
{
    struct err err = ERR_INIT;
    int fd = -1, other = -1, port = 0;
    assert_int_equal(http_listen("localhost", 0, &fd, &port, &err), -ERR_INVALID);
    assert_string_equal(err.message, "'localhost' is not an IP address to listen on");
    assert_int_equal(http_listen("127.0.0.1", 70000, &fd, &port, &err), -ERR_INVALID);
    assert_int_equal(http_listen("127.0.0.1", 0, &fd, &port, &err), 0);
    assert_int_not_equal(port, 0);
    assert_true(http_listen("127.0.0.1", port, &other, NULL, &err) < 0);
    char expected[128];
    snprintf(expected, sizeof(expected),
             "cannot listen on 127.0.0.1 port %d: Address already in use", port);
    assert_string_equal(err.message, expected);
    close(fd);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN); /* the client's OpenSSL writes without MSG_NOSIGNAL */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_and_streams_are_answered),
        cmocka_unit_test(large_responses_arrive_completely),
        cmocka_unit_test(large_requests_arrive_completely),
        cmocka_unit_test(a_rejection_arrives_during_a_long_body),
        cmocka_unit_test(many_connections_are_served),
        cmocka_unit_test(all_pipelined_requests_are_answered),
        cmocka_unit_test(the_server_waits_for_a_free_descriptor),
        cmocka_unit_test(disconnected_watchers_are_detected),
        cmocka_unit_test(closing_the_server_cancels_streams),
        cmocka_unit_test(listening_errors_have_a_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
