/* Fuzzes a WebSocket session with any bytes of a peer, without a socket. The result must be the
 * same in one piece, in many, and for an owner that pauses after each piece. The session must end
 * with nothing left. The first byte of the input is the size of the pieces. */
#include "base/mem.h"
#include "loop/sim/sim_loop.h"
#include "memory_stream.h"
#include "net/stream/websocket_session.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct run {
    struct websocket_session *session;
    struct loop *loop;
    struct loop_timer resume;
    bool pauses;
    struct buf log; /* the frames as they were understood */
};

static void on_open(void *context)
{
}

static void on_data(void *context, const char *data, size_t size, bool first, bool last)
{
    struct run *run = context;
    if (run->resume.running)
        mem_panic("data came while it was paused");
    buf_append_str(&run->log, first ? "\nmessage\n" : "");
    buf_append(&run->log, data, size);
    buf_append_str(&run->log, last ? "\nend\n" : "");
    websocket_session_write(run->session, data, size);
    if (run->pauses) {
        websocket_session_pause(run->session, true);
        loop_timer_start(&run->resume, 1);
    }
}

static void on_resume(struct loop_timer *timer)
{
    struct run *run = CONTAINER_OF(timer, struct run, resume);
    if (run->session)
        websocket_session_pause(run->session, false);
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
    struct run *run = context;
    run->session = NULL;
    loop_timer_stop(&run->resume);
}

static char *understood(const uint8_t *data, size_t size, size_t piece, bool pauses)
{
    static const struct websocket_session_handler handler = {on_open, on_data, on_drain, on_end,
                                                             on_closed};
    struct loop *loop = sim_loop_new(1, 0);
    struct run run = {.pauses = pauses};
    bool closed;
    struct memory_stream *peer = memory_stream_new(loop, &closed);
    buf_init(&run.log, 64 << 20);
    loop_timer_init(loop, &run.resume, on_resume);
    peer->piece = piece;
    run.session = websocket_session_new(loop, &peer->stream, &handler, &run);
    memory_stream_send(peer, data, size);
    sim_loop_run_for(loop, 10 * 1000 * 1000);
    if (!closed)
        memory_stream_send_end(peer);
    loop_run(loop);
    if (!closed || run.session)
        mem_panic("the peer left and the session did not end");
    loop_free(loop);
    return buf_take(&run.log);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    size_t piece = 1 + data[0] % 64;
    char *whole = understood(data + 1, size - 1, 0, false);
    char *pieces = understood(data + 1, size - 1, piece, false);
    char *paused = understood(data + 1, size - 1, piece, true);
    if (strcmp(whole, pieces) != 0)
        mem_panic("understood otherwise in pieces of %zu", piece);
    if (strcmp(whole, paused) != 0)
        mem_panic("understood otherwise with pauses");
    free(whole);
    free(pieces);
    free(paused);
    return 0;
}
