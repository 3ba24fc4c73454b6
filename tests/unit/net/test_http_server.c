/* The server on real sockets, plain and TLS: the test's thread is the client and blocks, the loop
 * runs in the main one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "net/http_server.h"
#include "tls/tls.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

enum { BIG = 8 * 1024 * 1024, TICKS = 3 };

struct world {
    struct loop *loop;
    struct http_server *server;
    struct tls_server *tls;
    int port;
    SSL_CTX *client_context; /* NULL: plain */
    void (*client)(struct world *world);
    struct loop_task client_done;
    struct loop_timer ticker;
    struct http_exchange *ticking;
    int ticks;
    _Atomic int cancelled;
    bool closed;
};

/* ---- the server's side ----------------------------------------------------------------------- */

static void on_cancel(struct http_exchange *exchange)
{
    struct world *world = exchange->context;
    if (world->ticking == exchange) {
        loop_timer_stop(&world->ticker);
        world->ticking = NULL;
    }
    atomic_fetch_add(&world->cancelled, 1);
}

static void on_tick(struct loop_timer *timer)
{
    struct world *world = CONTAINER_OF(timer, struct world, ticker);
    http_write(world->ticking, "tick\n", 5);
    if (++world->ticks == TICKS)
        http_end(TAKE(world->ticking));
    else
        loop_timer_start(timer, 1);
}

static void handler(struct http_exchange *exchange, void *context)
{
    struct world *world = context;
    const struct http_request *request = exchange->request;
    exchange->context = world;
    assert_memory_equal(request->peer, "127.0.0.1:", 10);
    if (strcmp(request->path, "/ticks") == 0) {
        exchange->on_cancel = on_cancel;
        http_begin(exchange, 200, "text/plain", NULL, -1);
        world->ticking = exchange;
        world->ticks = 0;
        loop_timer_start(&world->ticker, 1);
    } else if (strcmp(request->path, "/forever") == 0) {
        exchange->on_cancel = on_cancel;
        http_begin(exchange, 200, "text/plain", NULL, -1);
        http_write(exchange, "begin", 5);
    } else if (strcmp(request->path, "/cancelled") == 0) {
        char text[16];
        int size = snprintf(text, sizeof(text), "%d", atomic_load(&world->cancelled));
        http_respond(exchange, 200, "text/plain", text, (size_t)size);
    } else if (strcmp(request->path, "/big") == 0) {
        char *body = mem_alloc(BIG);
        for (size_t i = 0; i < BIG; i++)
            body[i] = (char)(i * 31 >> 3);
        http_respond(exchange, 200, "application/octet-stream", body, BIG);
        free(body);
    } else {
        http_respond(exchange, 200, "text/plain", request->body, request->body_size);
    }
}

static void on_closed(void *context)
{
    ((struct world *)context)->closed = true;
}

static void on_client_done(struct loop_task *task)
{
    struct world *world = CONTAINER_OF(task, struct world, client_done);
    http_server_close(world->server, on_closed, world);
}

static void *client_main(void *argument)
{
    struct world *world = argument;
    world->client(world);
    loop_post(world->loop, &world->client_done);
    return NULL;
}

/* Where a test sets no limit a client may be stopped for as long as the machine wants to. */
static void be_patient(int64_t *timeout_ms)
{
    *timeout_ms = *timeout_ms ? *timeout_ms : 10 * 60 * 1000;
}

static void serve_client(bool with_tls, const struct http_server_options *limits,
                         void (*client)(struct world *world))
{
    struct world world = {.client = client, .client_done.callback = on_client_done};
    struct err err = ERR_INIT;
    struct http_server_options options = limits ? *limits : (struct http_server_options){0};
    be_patient(&options.handshake_timeout_ms);
    be_patient(&options.header_timeout_ms);
    be_patient(&options.body_timeout_ms);
    be_patient(&options.idle_timeout_ms);
    assert_int_equal(loop_new(&world.loop, &err), 0);
    loop_timer_init(world.loop, &world.ticker, on_tick);
    if (with_tls) {
        static const char *const hosts[] = {"127.0.0.1", NULL};
        struct tls_pair ca = {0}, pair = {0};
        tls_make_ca("ca", 1, &ca, &err);
        tls_make_cert(&ca, "server", hosts, 1, &pair, &err);
        assert_int_equal(tls_server_new(pair.cert_pem, pair.key_pem, &world.tls, &err), 0);
        tls_pair_release(&ca);
        tls_pair_release(&pair);
        world.client_context = SSL_CTX_new(TLS_client_method());
        options.tls = world.tls;
    }
    assert_int_equal(http_listen("127.0.0.1", 0, &options.listen_fd, &world.port, &err), 0);
    assert_int_equal(http_server_new(world.loop, &options, handler, &world, &world.server, &err),
                     0);
    pthread_t thread;
    pthread_create(&thread, NULL, client_main, &world);
    loop_run(world.loop);
    pthread_join(thread, NULL);
    assert_true(world.closed);
    loop_free(world.loop);
    tls_server_free(world.tls);
    SSL_CTX_free(world.client_context);
}

/* ---- the client's side: a blocking socket ---------------------------------------------------- */

struct client {
    int fd;
    SSL *ssl;
};

static void client_open(struct client *client, struct world *world)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)world->port)};
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    *client = (struct client){.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    assert_int_equal(connect(client->fd, (struct sockaddr *)&address, sizeof(address)), 0);
    if (world->client_context) {
        client->ssl = SSL_new(world->client_context);
        SSL_set_fd(client->ssl, client->fd);
        assert_int_equal(SSL_connect(client->ssl), 1);
    }
}

static void client_close(struct client *client)
{
    SSL_free(client->ssl);
    close(client->fd);
}

static void client_send(struct client *client, const void *data, size_t size)
{
    while (size) {
        long sent = client->ssl ? SSL_write(client->ssl, data, (int)size)
                                : send(client->fd, data, size, MSG_NOSIGNAL);
        assert_true(sent > 0);
        data = (const char *)data + sent;
        size -= (size_t)sent;
    }
}

static void client_say(struct client *client, const char *text)
{
    client_send(client, text, strlen(text));
}

/* 0 at the end, in order or not. */
static size_t client_read(struct client *client, void *data, size_t size)
{
    long got =
        client->ssl ? SSL_read(client->ssl, data, (int)size) : recv(client->fd, data, size, 0);
    return got > 0 ? (size_t)got : 0;
}

/* Read until the text stands in what was read, or the end. */
static void client_read_until(struct client *client, struct buf *buf, const char *text)
{
    while (!strstr(buf->data, text)) {
        char byte;
        if (!client_read(client, &byte, 1))
            return;
        buf_append(buf, &byte, 1);
    }
}

static void expect_end(struct client *client)
{
    char data[4096];
    while (client_read(client, data, sizeof(data)))
        ;
}

#define GET(path) "GET " path " HTTP/1.1\r\nHost: x\r\n\r\n"

/* ---- plain and TLS --------------------------------------------------------------------------- */

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

static void answers_and_streams(void **state)
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

static void large_answers_come_whole(void **state)
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

static void large_requests_come_whole(void **state)
{
    serve_client(false, NULL, send_big);
    serve_client(true, NULL, send_big);
}

static void be_refused(struct world *world)
{
    struct client client;
    struct buf buf;
    buf_init(&buf, 1 << 20);
    client_open(&client, world);
    /* Much more than the buffers of the sockets hold: the answer must arrive although we sent on.
     */
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

static void refusals_arrive(void **state)
{
    serve_client(false, NULL, be_refused);
    serve_client(true, NULL, be_refused);
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

/* More requests ahead than the server buffers: it must stop reading and find them all later, those
 * too that TLS has already taken off the socket. */
static void ask_ahead(struct world *world)
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

static void requests_sent_ahead_are_all_answered(void **state)
{
    serve_client(false, NULL, ask_ahead);
    serve_client(true, NULL, ask_ahead);
}

/* With no descriptor left the server waits for one, and then goes on. */
static void use_up_descriptors(struct world *world)
{
    struct client first, waiting;
    struct buf buf;
    buf_init(&buf, 1 << 20);
    client_open(&first, world);
    client_say(&first, GET("/forever"));
    client_read_until(&first, &buf, "begin");
    struct rlimit limit, tight;
    getrlimit(RLIMIT_NOFILE, &limit);
    int fds[64], count = 0;
    tight = limit;
    tight.rlim_cur = 60;
    setrlimit(RLIMIT_NOFILE, &tight);
    while (count < 64 && (fds[count] = dup(0)) >= 0)
        count++;
    close(fds[--count]); /* one for the client's side, none for the server's */
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

static void running_out_of_descriptors_is_survived(void **state)
{
    serve_client(false, NULL, use_up_descriptors);
}

static void leave_in_every_way(struct world *world)
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
    /* One that leaves in the middle of a large answer. */
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

static void dead_watchers_are_noticed(void **state)
{
    serve_client(false, NULL, leave_in_every_way);
    serve_client(true, NULL, leave_in_every_way);
}

static void stay_forever(struct world *world)
{
    struct client client;
    struct buf buf;
    buf_init(&buf, 1 << 20);
    client_open(&client, world);
    client_say(&client, GET("/forever"));
    client_read_until(&client, &buf, "begin");
    SSL_free(client.ssl); /* the descriptor stays open until the process ends the test */
    buf_release(&buf);
}

static void closing_the_server_cancels_what_streams(void **state)
{
    serve_client(false, NULL, stay_forever);
    serve_client(true, NULL, stay_forever);
}

/* ---- clocks and limits ----------------------------------------------------------------------- */

static void expect_too_long(struct client *client, struct buf *buf)
{
    client_read_until(client, buf, "too long\n");
    assert_non_null(strstr(buf->data, "408 Request Timeout"));
    expect_end(client);
    client_close(client);
}

/* It has to begin in that time, too: one whom the machine stopped before that tries again. */
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

static void say_nothing(struct world *world)
{
    struct client client;
    client_open(&client, world);
    expect_end(&client);
    client_close(&client);
}

static void say_nothing_more(struct world *world)
{
    struct client client;
    client_open(&client, world);
    client_say(&client, GET("/echo"));
    expect_end(&client);
    client_close(&client);
}

static void slow_peers_are_ended(void **state)
{
    const struct http_server_options head = {.header_timeout_ms = 100};
    const struct http_server_options body = {.body_timeout_ms = 20};
    const struct http_server_options idle = {.idle_timeout_ms = 20};
    for (int with_tls = 0; with_tls < 2; with_tls++) {
        serve_client(with_tls, &head, begin_and_stop);
        serve_client(with_tls, &body, stop_in_the_body);
        serve_client(with_tls, &head, say_nothing);
        serve_client(with_tls, &idle, say_nothing_more);
    }
}

static void stall_the_handshake(struct world *world)
{
    SSL_CTX *context = TAKE(world->client_context); /* connect, and say nothing of TLS */
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

static void a_stalled_handshake_is_ended(void **state)
{
    const struct http_server_options limits = {.handshake_timeout_ms = 20};
    serve_client(true, &limits, stall_the_handshake);
}

static void never_read(struct world *world)
{
    struct client client, asker;
    client_open(&client, world);
    client_say(&client, GET("/big"));
    /* The server gives up on its own, and serves others meanwhile. */
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

static void a_peer_that_takes_nothing_is_given_up(void **state)
{
    const struct http_server_options limits = {.body_timeout_ms = 50};
    serve_client(false, &limits, never_read);
}

static void come_in_too_many(struct world *world)
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
    serve_client(false, &limits, come_in_too_many);
}

/* One that asks, among many that never do; the one that was served last is the last to go. */
static void come_in_behind_a_crowd(struct world *world)
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

static void one_that_asks_is_not_kept_out_by_a_crowd(void **state)
{
    const struct http_server_options limits = {.connections_max = 3};
    serve_client(false, &limits, come_in_behind_a_crowd);
}

static void listening_says_what_is_wrong(void **state)
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
        cmocka_unit_test(answers_and_streams),
        cmocka_unit_test(large_answers_come_whole),
        cmocka_unit_test(large_requests_come_whole),
        cmocka_unit_test(refusals_arrive),
        cmocka_unit_test(many_connections_are_served),
        cmocka_unit_test(requests_sent_ahead_are_all_answered),
        cmocka_unit_test(running_out_of_descriptors_is_survived),
        cmocka_unit_test(dead_watchers_are_noticed),
        cmocka_unit_test(closing_the_server_cancels_what_streams),
        cmocka_unit_test(slow_peers_are_ended),
        cmocka_unit_test(a_stalled_handshake_is_ended),
        cmocka_unit_test(a_peer_that_takes_nothing_is_given_up),
        cmocka_unit_test(too_many_connections_are_closed),
        cmocka_unit_test(one_that_asks_is_not_kept_out_by_a_crowd),
        cmocka_unit_test(listening_says_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
