/* Sends requests over a connection in memory; see api_line.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api_line.h"

#include "loop/sim/sim_loop.h"
#include "served_kinds.h"

#include <stdio.h>
#include <string.h>

enum { RUN_MS = 100 }; /* in virtual time: enough for all immediate effects */

static void on_connection_closed(struct http_service *service)
{
}

void api_line_open(struct api_line *line, const struct engine_pod_backend *backend,
                   const char *address)
{
    const struct engine_options options = {
        .token = "secret", .version = "0", .kinds = SERVED_KINDS};
    const struct store_options store = {0};
    *line = (struct api_line){.loop = sim_loop_new(3, 1700000000000)};
    assert_int_equal(store_open(line->loop, &store, &line->store, NULL), 0);
    assert_int_equal(engine_new(line->loop, line->store, &options, &line->engine, NULL), 0);
    engine_set_pod_backend(line->engine, backend);
    line->service = (struct http_service){
        .loop = line->loop,
        .handler = engine_handle,
        .context = line->engine,
        .header_max = 10000,
        .body_max = 10000,
        .handshake_timeout_ms = 1000,
        .header_timeout_ms = 1000,
        .body_timeout_ms = 1000,
        .idle_timeout_ms = 100000,
        .on_closed = on_connection_closed,
        .date_second = -1,
    };
    line->peer = memory_stream_new(line->loop, &line->peer_closed);
    http_connection_new(&line->service, &line->peer->stream, address);
    api_line_run(line);
}

static void on_store_closed(void *context)
{
    *(bool *)context = true;
}

void api_line_close(struct api_line *line)
{
    bool done = false;
    while (!list_is_empty(&line->service.connections)) {
        http_connection_close(LIST_FIRST(&line->service.connections, struct http_connection, link));
        api_line_run(line);
    }
    if (!line->peer_closed)
        memory_stream_break(line->peer);
    api_line_run(line);
    engine_free(line->engine);
    store_close(line->store, on_store_closed, &done);
    api_line_run(line);
    assert_true(done);
    loop_free(line->loop);
}

void api_line_run(struct api_line *line)
{
    sim_loop_run_for(line->loop, RUN_MS);
}

void api_line_clear(struct api_line *line)
{
    buf_clear(&line->peer->out);
    line->peer->taken = 0;
}

static void send_request(struct api_line *line, const char *request, int size)
{
    api_line_clear(line);
    memory_stream_send(line->peer, request, (size_t)size);
    api_line_run(line);
}

int api_line_ask(struct api_line *line, const char *method, const char *path, const char *headers)
{
    char request[2048];
    int size = snprintf(request, sizeof(request),
                        "%s %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secret\r\n"
                        "Content-Length: 0\r\n%s\r\n",
                        method, path, headers);
    send_request(line, request, size);
    int status = 0;
    assert_int_equal(sscanf(line->peer->out.data, "HTTP/1.1 %d", &status), 1);
    return status;
}

void api_line_put(struct api_line *line, const char *method, const char *path, const char *body)
{
    char request[2048];
    int size =
        snprintf(request, sizeof(request),
                 "%s %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secret\r\n"
                 "Content-Type: %s\r\nContent-Length: %zu\r\n\r\n%s",
                 method, path,
                 strcmp(method, "PATCH") == 0 ? "application/merge-patch+json" : "application/json",
                 strlen(body), body);
    send_request(line, request, size);
    assert_memory_equal(line->peer->out.data, "HTTP/1.1 20", 11);
}
