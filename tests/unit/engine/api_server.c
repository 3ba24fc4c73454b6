/* Serves the API over connections in memory; see api_server.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api_server.h"

#include "base/hash.h"
#include "base/mem.h"
#include "loop/sim/sim_loop.h"
#include "served_kinds.h"

#include <stdlib.h>
#include <string.h>

static void on_connection_closed(struct http_service *service)
{
}

static int server_sign(void *context, const void *data, size_t size,
                       unsigned char ret[ENGINE_SIGNATURE_SIZE], struct err *err)
{
    static const struct hash_key key = {{1, 2}};
    uint64_t sum = hash_bytes(&key, data, size);
    memset(ret, 0, ENGINE_SIGNATURE_SIZE);
    memcpy(ret, &sum, sizeof(sum));
    return 0;
}

struct api_server *api_server_new(size_t watch_events_max)
{
    const struct engine_options options = {.token = API_SERVER_TOKEN,
                                           .version = "0",
                                           .kinds = SERVED_KINDS,
                                           .signer = {server_sign},
                                           .watch_events_max = watch_events_max};
    struct api_server *server = mem_zalloc(sizeof(*server));
    server->loop = sim_loop_new(3, 1700000000000);
    server->arena = arena_new();
    assert_int_equal(store_open(server->loop, &(struct store_options){0}, &server->store, NULL), 0);
    assert_int_equal(engine_new(server->loop, server->store, &options, &server->engine, NULL), 0);
    server->service = (struct http_service){.loop = server->loop,
                                            .handler = engine_handle,
                                            .admit = engine_admit,
                                            .context = server->engine,
                                            .header_max = 64 * 1024,
                                            .body_max = 3 * 1024 * 1024,
                                            .handshake_timeout_ms = 1000,
                                            .header_timeout_ms = 1000,
                                            .body_timeout_ms = 1000,
                                            .idle_timeout_ms = 100 * 1000,
                                            .write_refusal = engine_write_refusal,
                                            .on_closed = on_connection_closed,
                                            .date_second = -1};
    api_server_run(server);
    return server;
}

static void on_store_closed(void *context)
{
}

void api_server_free(struct api_server *server)
{
    engine_free(server->engine);
    store_close(server->store, on_store_closed, NULL);
    loop_run(server->loop);
    loop_free(server->loop);
    arena_free(server->arena);
    free(server);
}

void api_server_run(struct api_server *server)
{
    sim_loop_run_for(server->loop, 10);
}

const char *api_peer_open(struct api_peer *peer, struct api_server *server, const char *text)
{
    peer->closed = false;
    peer->stream = memory_stream_new(server->loop, &peer->closed);
    http_connection_new(&server->service, &peer->stream->stream, "10.0.0.1:5");
    memory_stream_hold(peer->stream, true);
    memory_stream_send(peer->stream, text, strlen(text));
    api_server_run(server);
    return peer->stream->out.data;
}

void api_peer_close(struct api_peer *peer, struct api_server *server)
{
    if (!peer->closed)
        memory_stream_break(peer->stream);
    api_server_run(server);
    assert_true(peer->closed);
}

char *api_peer_request(struct api_server *server, const char *method, const char *path,
                       const char *body)
{
    return arena_printf(server->arena,
                        "%s %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " API_SERVER_TOKEN
                        "\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                        method, path, body ? strlen(body) : 0, body ? body : "");
}
