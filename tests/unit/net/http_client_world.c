/* The fixture of an https client and its server; see http_client_world.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "http_client_world.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the server's side ----------------------------------------------------------------------- */

static void on_cancel(struct http_exchange *exchange)
{
    struct world *world = exchange->context;
    world->cancelled++;
    world->held = NULL;
    loop_stop(world->loop);
}

static void count_peer(struct world *world, const char *peer)
{
    for (size_t i = 0; i < world->peer_count; i++)
        if (strcmp(world->peers[i], peer) == 0)
            return;
    assert_true(world->peer_count < PEERS_MAX);
    snprintf(world->peers[world->peer_count++], sizeof(world->peers[0]), "%s", peer);
}

void world_handle(struct http_exchange *exchange, void *context)
{
    struct world *world = context;
    const struct http_request *request = exchange->request;
    exchange->context = world;
    count_peer(world, request->peer);
    snprintf(world->path, sizeof(world->path), "%s", request->path);
    if (strcmp(request->path, "/describe") == 0) {
        const char *names[] = {"Authorization", "Content-Type", "X-Empty", "X-Evil", "Expect"};
        struct buf text;
        buf_init(&text, 10000);
        buf_printf(&text, "%s %s?%s %zu", request->method, request->path, request->query,
                   request->body_size);
        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
            const char *value = http_header_get(request->headers, names[i]);
            buf_printf(&text, " [%s]", value ? value : "-");
        }
        http_respond(exchange, 202, "text/plain", text.data, text.size);
        buf_release(&text);
    } else if (strcmp(request->path, "/names") == 0) {
        const char *as = http_header_get(request->headers, "X-As");
        const char *host = http_header_get(request->headers, "Host");
        char text[200];
        int size = snprintf(text, sizeof(text), "[%s] [%s]", as ? as : "-", host ? host : "-");
        http_respond(exchange, 200, "text/plain", text, (size_t)size);
    } else if (strcmp(request->path, "/hold") == 0 || strcmp(request->path, "/stream") == 0) {
        exchange->on_cancel = on_cancel;
        world->held = exchange;
        if (request->path[1] == 's') {
            http_begin(exchange, 200, "text/plain", NULL, -1);
            http_write(exchange, "first", 5);
        }
    } else if (strcmp(request->path, "/refuse") == 0) {
        http_respond(exchange, 401, "text/plain", "", 0);
    } else {
        http_respond(exchange, 200, "text/plain", request->body, request->body_size);
    }
}

/* ---- the client's side ----------------------------------------------------------------------- */

static void on_head(void *context, int status, const struct http_header *headers)
{
    struct answer *answer = context;
    assert_int_equal(answer->status, 0);
    answer->status = status;
    const char *type = http_header_get(headers, "content-type");
    snprintf(answer->type, sizeof(answer->type), "%s", type ? type : "");
}

static void on_data(void *context, const void *data, size_t size)
{
    struct answer *answer = context;
    assert_int_not_equal(answer->status, 0);
    buf_append(&answer->body, data, size);
    if (answer->stop_on_data)
        loop_stop(answer->world->loop);
    if (answer->cancel_on_data)
        http_cancel(answer->world->transport, answer->call);
    if (answer->free_on_data)
        answer->world->transport = http_transport_free(answer->world->transport);
}

static void on_end(void *context, const struct err *err)
{
    struct answer *answer = context;
    answer->ended++;
    if (err)
        answer->err = *err;
    if (answer->start_on_end)
        answer_start(answer->start_on_end, answer->world, "GET", "/echo", "", 0, 0);
    if (answer->free_on_end)
        answer->world->transport = http_transport_free(answer->world->transport);
    if (!answer->go_on && !answer->start_on_end)
        loop_stop(answer->world->loop);
}

void answer_start(struct answer *answer, struct world *world, const char *method, const char *path,
                  const void *body, size_t size, int64_t timeout_ms)
{
    static const struct http_callbacks listener = {on_head, on_data, on_end};
    struct http_header evil = {"X-Evil", "a\r\nX-More: b", NULL};
    struct http_header empty = {"X-Empty", "", &evil};
    struct http_request request = {.method = method,
                                   .path = path,
                                   .query = "a=b%20c",
                                   .headers = &empty,
                                   .body = body,
                                   .body_size = size};
    answer->world = world;
    buf_init(&answer->body, 64 << 20);
    answer->call = http_start(world->transport, &request, timeout_ms, &listener, answer);
}

static void on_guard(struct loop_timer *timer)
{
    fail_msg("nothing happened any more");
}

void world_use_client(struct world *world, const struct http_client_options *options)
{
    struct err err = ERR_INIT;
    http_transport_free(world->transport);
    if (http_client_new(world->loop, options, &world->transport, &err) < 0)
        fail_msg("%s", err.message);
}

int world_setup(void **state)
{
    static const char *const hosts[] = {"127.0.0.1", NULL};
    struct world *world = mem_zalloc(sizeof(*world));
    struct err err = ERR_INIT;
    enum { PATIENCE_MS = 10 * 60 * 1000 }; /* long enough even if the machine stops this process */
    struct http_server_options options = {.handshake_timeout_ms = PATIENCE_MS,
                                          .header_timeout_ms = PATIENCE_MS,
                                          .body_timeout_ms = PATIENCE_MS,
                                          .idle_timeout_ms = PATIENCE_MS};
    int port = 0;
    assert_int_equal(loop_new(&world->loop, &err), 0);
    loop_timer_init(world->loop, &world->guard, on_guard);
    loop_timer_start(&world->guard, 60000);
    tls_make_ca("ca", 1, &world->ca, &err);
    tls_make_ca("other", 1, &world->other_ca, &err);
    tls_make_cert(&world->ca, "server", hosts, 1, &world->pair, &err);
    tls_server_new(world->pair.cert_pem, world->pair.key_pem, &world->tls, &err);
    options.tls = world->tls;
    assert_int_equal(http_listen("127.0.0.1", 0, &options.listen_fd, &port, &err), 0);
    assert_int_equal(
        http_server_new(world->loop, &options, world_handle, world, &world->server, &err), 0);
    snprintf(world->url, sizeof(world->url), "https://127.0.0.1:%d/", port);
    world_use_client(world, &(struct http_client_options){.base_url = world->url,
                                                          .ca_pem = world->ca.cert_pem,
                                                          .bearer = "secret"});
    *state = world;
    return 0;
}

void world_server_closed(void *context)
{
    ((struct world *)context)->server_closed = true;
}

int world_teardown(void **state)
{
    struct world *world = *state;
    http_transport_free(world->transport);
    loop_timer_stop(&world->guard);
    http_server_close(world->server, world_server_closed, world);
    while (!world->server_closed)
        loop_run(world->loop);
    loop_free(world->loop);
    tls_server_free(world->tls);
    tls_pair_release(&world->ca);
    tls_pair_release(&world->other_ca);
    tls_pair_release(&world->pair);
    free(world);
    return 0;
}
