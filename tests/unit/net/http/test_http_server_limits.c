/* Tests the timeouts and limits of the server on real sockets: only connections that are slow, do
 * not read or are too many are closed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "http_server_world.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void expect_too_long(struct client *client, struct buf *buf)
{
    client_read_until(client, buf, "too long\n");
    assert_non_null(strstr(buf->data, "408 Request Timeout"));
    expect_end(client);
    client_close(client);
}

/* The client must also begin within the limit. If the machine was too slow for that, the client
 * tries again. */
static void begin_and_stop(struct world *world)
{
    struct client client;
    struct buf buf;
    buf_init(&buf, 1 << 20);
    for (;;) {
        char first;
        client_open(&client, world);
        if (client.ssl)
            (void)SSL_write(client.ssl, "GET / HT", 8);
        else
            (void)send(client.fd, "GET / HT", 8, MSG_NOSIGNAL);
        if (client_read(&client, &first, 1))
            break;
        client_close(&client);
    }
    expect_too_long(&client, &buf);
    buf_release(&buf);
}

static void stop_in_the_body(struct world *world)
{
    struct client client;
    struct buf buf;
    buf_init(&buf, 1 << 20);
    client_open(&client, world);
    client_say(&client, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1");
    expect_too_long(&client, &buf);
    buf_release(&buf);
}

static void stay_silent(struct world *world)
{
    struct client client;
    client_open(&client, world);
    expect_end(&client);
    client_close(&client);
}

static void stay_silent_after_a_request(struct world *world)
{
    struct client client;
    client_open(&client, world);
    client_say(&client, GET("/echo"));
    expect_end(&client);
    client_close(&client);
}

static void slow_clients_are_disconnected(void **state)
{
    const struct http_server_options head = {.header_timeout_ms = 100};
    const struct http_server_options body = {.body_timeout_ms = 20};
    const struct http_server_options idle = {.idle_timeout_ms = 20};
    for (int with_tls = 0; with_tls < 2; with_tls++) {
        serve_client(with_tls, &head, begin_and_stop);
        serve_client(with_tls, &body, stop_in_the_body);
        serve_client(with_tls, &head, stay_silent);
        serve_client(with_tls, &idle, stay_silent_after_a_request);
    }
}

static void stall_the_handshake(struct world *world)
{
    SSL_CTX *context = TAKE(world->client_context); /* connects without a TLS handshake */
    struct client client;
    client_open(&client, world);
    expect_end(&client);
    client_close(&client);
    client_open(&client, world);
    client_say(&client, GET("/plain")); /* not TLS at all */
    expect_end(&client);
    client_close(&client);
    SSL_CTX_free(context);
}

static void a_stalled_tls_handshake_is_closed(void **state)
{
    const struct http_server_options limits = {.handshake_timeout_ms = 20};
    serve_client(true, &limits, stall_the_handshake);
}

static void never_read(struct world *world)
{
    struct client client, asker;
    client_open(&client, world);
    client_say(&client, GET("/big"));
    /* The server closes the connection by itself, and serves others meanwhile. */
    client_open(&asker, world);
    client_say(&asker, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nalive");
    struct buf buf;
    buf_init(&buf, 1 << 20);
    client_read_until(&asker, &buf, "alive");
    assert_non_null(strstr(buf.data, "alive"));
    buf_release(&buf);
    client_close(&asker);
    int error = 0;
    do { /* until the server's reset or end has arrived */
        char byte;
        error = recv(client.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
        socklen_t size = sizeof(error);
        if (!error)
            getsockopt(client.fd, SOL_SOCKET, SO_ERROR, &error, &size);
        if (!error)
            error = send(client.fd, "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0;
    } while (!error);
    client_close(&client);
}

static void a_client_that_reads_nothing_is_disconnected(void **state)
{
    const struct http_server_options limits = {.body_timeout_ms = 50};
    serve_client(false, &limits, never_read);
}

static void open_too_many_connections(struct world *world)
{
    struct client first, second, third;
    struct buf buf;
    buf_init(&buf, 1 << 20);
    client_open(&first, world);
    client_say(&first, GET("/forever"));
    client_read_until(&first, &buf, "begin");
    client_open(&second, world);
    client_say(&second, GET("/forever"));
    buf_clear(&buf);
    client_read_until(&second, &buf, "begin");
    client_open(&third, world);
    expect_end(&third);
    client_close(&third);
    client_say(&first, "x");
    client_close(&first);
    client_close(&second);
    buf_release(&buf);
}

static void too_many_connections_are_closed(void **state)
{
    const struct http_server_options limits = {.connections_max = 2};
    serve_client(false, &limits, open_too_many_connections);
}

/* A client that sends requests, among many that never do. The client that was served last is the
 * last to be closed. */
static void request_among_silent_clients(struct world *world)
{
    enum { CROWD = 50 };
    struct client crowd[CROWD], asker;
    struct buf buf;
    buf_init(&buf, 1 << 20);
    client_open(&crowd[0], world);
    client_open(&asker, world);
    for (int i = 1; i < CROWD; i++) {
        client_open(&crowd[i], world);
        if (i % 2)
            client_say(&crowd[i], "GET / HTTP");
        buf_clear(&buf);
        client_say(&asker, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nhere");
        client_read_until(&asker, &buf, "here");
        assert_non_null(strstr(buf.data, "200 OK"));
    }
    expect_end(&crowd[0]);
    expect_end(&crowd[1]);
    for (int i = 0; i < CROWD; i++)
        client_close(&crowd[i]);
    client_close(&asker);
    buf_release(&buf);
}

static void an_active_client_is_not_closed_for_silent_ones(void **state)
{
    const struct http_server_options limits = {.connections_max = 3};
    serve_client(false, &limits, request_among_silent_clients);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN); /* the client's OpenSSL writes without MSG_NOSIGNAL */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_clients_are_disconnected),
        cmocka_unit_test(a_stalled_tls_handshake_is_closed),
        cmocka_unit_test(a_client_that_reads_nothing_is_disconnected),
        cmocka_unit_test(too_many_connections_are_closed),
        cmocka_unit_test(an_active_client_is_not_closed_for_silent_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
