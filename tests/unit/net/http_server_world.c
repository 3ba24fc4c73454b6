/* The fixture of a server and its clients; see http_server_world.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "http_server_world.h"

#include "base/cleanup.h"
#include "base/mem.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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

/* Sets a long timeout where the test sets none, because the machine may stop a client for a
 * while. */
static void set_long_timeouts(int64_t *timeout_ms)
{
    *timeout_ms = *timeout_ms ? *timeout_ms : 10 * 60 * 1000;
}

void serve_client(bool with_tls, const struct http_server_options *limits,
                  void (*client)(struct world *world))
{
    struct world world = {.client = client, .client_done.callback = on_client_done};
    struct err err = ERR_INIT;
    struct http_server_options options = limits ? *limits : (struct http_server_options){0};
    set_long_timeouts(&options.handshake_timeout_ms);
    set_long_timeouts(&options.header_timeout_ms);
    set_long_timeouts(&options.body_timeout_ms);
    set_long_timeouts(&options.idle_timeout_ms);
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

void client_open(struct client *client, struct world *world)
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

void client_close(struct client *client)
{
    SSL_free(client->ssl);
    close(client->fd);
}

void client_send(struct client *client, const void *data, size_t size)
{
    while (size) {
        long sent = client->ssl ? SSL_write(client->ssl, data, (int)size)
                                : send(client->fd, data, size, MSG_NOSIGNAL);
        assert_true(sent > 0);
        data = (const char *)data + sent;
        size -= (size_t)sent;
    }
}

void client_say(struct client *client, const char *text)
{
    client_send(client, text, strlen(text));
}

size_t client_read(struct client *client, void *data, size_t size)
{
    long got =
        client->ssl ? SSL_read(client->ssl, data, (int)size) : recv(client->fd, data, size, 0);
    return got > 0 ? (size_t)got : 0;
}

void client_read_until(struct client *client, struct buf *buf, const char *text)
{
    while (!strstr(buf->data, text)) {
        char byte;
        if (!client_read(client, &byte, 1))
            return;
        buf_append(buf, &byte, 1);
    }
}

void expect_end(struct client *client)
{
    char data[4096];
    while (client_read(client, data, sizeof(data)))
        ;
}
