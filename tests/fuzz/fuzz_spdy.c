/* Fuzzes a SPDY session with any bytes of a peer, without a socket. The result must be the same in
 * one piece and in many, and the session must end with nothing left. The first byte of the input is
 * the size of the pieces. */
#include "base/mem.h"
#include "loop/sim/sim_loop.h"
#include "memory_stream.h"
#include "net/stream/spdy_session.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct run {
    struct buf log; /* the frames as they were understood */
    int open;       /* streams that have not ended yet */
    bool closed;
};

/* One of our streams. It lives until its end is reported. */
struct line {
    struct run *run;
    struct spdy_stream *stream;
};

static void on_data(void *context, const char *data, size_t size)
{
    struct line *line = context;
    buf_append(&line->run->log, data, size);
    spdy_stream_write(line->stream, data, size);
}

static void on_stream_end(void *context)
{
    struct line *line = context;
    buf_append_str(&line->run->log, "\nend\n");
    spdy_stream_end(line->stream);
}

static void on_reset(void *context)
{
    struct line *line = context;
    line->run->open--;
    spdy_stream_free(line->stream);
    free(line);
}

static void on_stream(void *context, struct spdy_stream *stream, const struct http_header *headers)
{
    static const struct spdy_stream_handler handler = {on_data, on_stream_end, on_reset};
    struct run *run = context;
    buf_printf(&run->log, "\nstream %u\n", (unsigned)spdy_stream_id(stream));
    for (const struct http_header *each = headers; each; each = each->next)
        buf_printf(&run->log, "%s: %s\n", each->name, each->value);
    if (!http_header_get(headers, "streamtype"))
        return;
    struct line *line = mem_zalloc(sizeof(*line));
    *line = (struct line){run, stream};
    run->open++;
    spdy_stream_accept(stream, &handler, line);
}

static void on_drain(void *context)
{
}

static void on_end(void *context, const struct err *err)
{
    struct run *run = context;
    buf_printf(&run->log, "\nover %s\n", err ? err->message : "");
}

static void on_closed(void *context)
{
    ((struct run *)context)->closed = true;
}

static char *understood(const uint8_t *data, size_t size, size_t piece)
{
    static const struct spdy_session_handler handler = {on_stream, on_drain, on_end, on_closed};
    struct loop *loop = sim_loop_new(1, 0);
    struct run run = {0};
    bool closed;
    struct memory_stream *peer = memory_stream_new(loop, &closed);
    buf_init(&run.log, 64 << 20);
    peer->piece = piece;
    spdy_session_new(&peer->stream, &handler, &run);
    memory_stream_send(peer, data, size);
    sim_loop_run_for(loop, 10);
    if (!closed)
        memory_stream_send_end(peer);
    loop_run(loop);
    if (!closed || !run.closed || run.open)
        mem_panic("the peer left and the session did not end");
    loop_free(loop);
    return buf_take(&run.log);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    char *whole = understood(data + 1, size - 1, 0);
    char *pieces = understood(data + 1, size - 1, 1 + data[0] % 64);
    if (strcmp(whole, pieces) != 0)
        mem_panic("understood otherwise in pieces of %d", 1 + data[0] % 64);
    free(whole);
    free(pieces);
    return 0;
}
