/* A server's connection fed by a hostile peer, without a socket: whatever comes, the same requests
 * are understood in one piece as in many, and the connection comes to its end with nothing left.
 * The first byte of the input is the size of the pieces. */
#include "base/mem.h"
#include "base/str.h"
#include "loop/sim/sim_loop.h"
#include "memory_stream.h"
#include "net/http_connection.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct run {
    struct http_service service;
    struct buf log; /* the requests as they were understood */
    int open;       /* exchanges that nobody has ended yet */
};

static void on_cancel(struct http_exchange *exchange)
{
    ((struct run *)exchange->context)->open--;
}

static void note(struct run *run, const struct http_request *request)
{
    buf_printf(&run->log, "%s\n%s\n%s\n", request->method, request->path, request->query);
    for (const struct http_header *each = request->headers; each; each = each->next)
        buf_printf(&run->log, "%s: %s\n", each->name, each->value);
    buf_append(&run->log, request->body, request->body_size);
}

static void handler(struct http_exchange *exchange, void *context)
{
    struct run *run = context;
    const struct http_request *request = exchange->request;
    note(run, request);
    if (str_has_prefix(request->path, "/hold")) {
        exchange->context = run;
        exchange->on_cancel = on_cancel;
        run->open++;
    } else if (str_has_prefix(request->path, "/stream")) {
        http_begin(exchange, 200, "text/plain", request->headers, -1);
        http_write(exchange, request->body, request->body_size);
        http_end(exchange);
    } else {
        http_respond(exchange, 200, "text/plain", request->path, strlen(request->path));
    }
}

static void on_closed(struct http_service *service)
{
}

static char *requests_in(const uint8_t *data, size_t size, size_t piece)
{
    struct loop *loop = sim_loop_new(1, 0);
    struct run run = {.service = {.loop = loop,
                                  .handler = handler,
                                  .context = &run,
                                  .header_max = 1000,
                                  .body_max = 2000,
                                  .handshake_timeout_ms = 1000,
                                  .header_timeout_ms = 1000,
                                  .body_timeout_ms = 1000,
                                  .idle_timeout_ms = 1000,
                                  .on_closed = on_closed,
                                  .date_second = -1}};
    buf_init(&run.log, 64 << 20);
    bool closed;
    struct memory_stream *peer = memory_stream_new(loop, &closed);
    peer->piece = piece;
    http_connection_new(&run.service, &peer->stream, "fuzzer");
    memory_stream_send(peer, data, size);
    sim_loop_run_for(loop, 10);
    if (!closed)
        memory_stream_send_end(peer);
    loop_run(loop);
    if (!closed || run.service.connections || run.open)
        mem_panic("the peer left and the connection did not end");
    loop_free(loop);
    return buf_take(&run.log);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    char *whole = requests_in(data + 1, size - 1, 0);
    char *pieces = requests_in(data + 1, size - 1, 1 + data[0] % 64);
    if (strcmp(whole, pieces) != 0)
        mem_panic("understood otherwise in pieces of %d", 1 + data[0] % 64);
    free(whole);
    free(pieces);
    return 0;
}
