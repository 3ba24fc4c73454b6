/* Forwarded connections; see forward_line.h. Every way a side can end runs through settle(), which
 * frees the line when nothing of it is left. */
#include "engine/forward_line.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PAIR_TIMEOUT_MS = 30 * 1000, /* between the two streams of a connection */
    TO_POD_HIGH = 1024 * 1024,   /* not taken by the pod: the whole session waits */
    TO_PEER_HIGH = 1024 * 1024,  /* not taken by the peer: the pod waits */
    EARLY_HIGH = 64 * 1024,      /* before there is a connection; then the session waits */
};

/* ---- the end --------------------------------------------------------------------------------- */

static bool is_stream_over(const struct forward_line *line, enum forward_stream which)
{
    return !line->streams[which] || line->peer_ended[which];
}

/* Free the line once both sides of everything have ended. Our own sides end together with the
 * connection. */
static void settle(struct forward_line *line)
{
    bool waits = !line->opened && (line->streams[FORWARD_ERROR] || line->streams[FORWARD_DATA]);
    if (waits || line->connecting || line->target || !is_stream_over(line, FORWARD_ERROR) ||
        !is_stream_over(line, FORWARD_DATA))
        return;
    for (int i = 0; i < FORWARD_STREAMS; i++)
        line->streams[i] = spdy_stream_free(line->streams[i]);
    loop_timer_stop(&line->timer);
    line->site->gone(line->site->context, line);
    free(line->request_id);
    buf_release(&line->early);
    free(line);
}

static void end_streams(struct forward_line *line)
{
    for (int i = 0; i < FORWARD_STREAMS; i++)
        if (line->streams[i])
            spdy_stream_end(line->streams[i]);
}

static void close_target(struct forward_line *line)
{
    if (line->connecting)
        line->site->backend.connect_cancel(TAKE(line->connecting));
    if (line->target && !line->target_closing) {
        line->target_closing = true;
        stream_close(line->target);
    }
}

/* ---- the pod's side -------------------------------------------------------------------------- */

static void on_target_open(void *context)
{
    struct forward_line *line = context;
    line->target_open = true;
    if (line->early.size)
        stream_write(line->target, line->early.data, line->early.size);
    buf_release(&line->early);
    if (line->streams[FORWARD_DATA])
        spdy_stream_pause(line->streams[FORWARD_DATA], false);
    if (line->peer_ended[FORWARD_DATA])
        stream_shut(line->target);
}

static void on_target_data(void *context, const char *data, size_t size)
{
    struct forward_line *line = context;
    if (!line->streams[FORWARD_DATA])
        return;
    spdy_stream_write(line->streams[FORWARD_DATA], data, size);
    if (line->site->pending(line->site->context) > TO_PEER_HIGH)
        stream_pause(line->target, true);
}

static void on_target_sent(void *context)
{
    struct forward_line *line = context;
    if (line->streams[FORWARD_DATA])
        spdy_stream_pause(line->streams[FORWARD_DATA], false);
}

/* The peer is told, and may have more to say to a pod that still listens. */
static void on_target_end(void *context, const struct err *err)
{
    struct forward_line *line = context;
    line->target_ended = true;
    end_streams(line);
    if (err) {
        close_target(line);
    } else if (line->peer_ended[FORWARD_DATA]) {
        line->target_closing = true;
        stream_finish(line->target);
    }
}

static void on_target_closed(void *context)
{
    struct forward_line *line = context;
    line->target = NULL;
    end_streams(line);
    if (line->streams[FORWARD_DATA])
        spdy_stream_pause(line->streams[FORWARD_DATA], false);
    settle(line);
}

static const struct stream_handler TARGET_HANDLER = {
    .on_open = on_target_open,
    .on_data = on_target_data,
    .on_sent = on_target_sent,
    .on_end = on_target_end,
    .on_closed = on_target_closed,
};

static void on_connected(void *context, struct stream *stream, const struct err *err)
{
    struct forward_line *line = context;
    const struct json *pod = line->site->pod;
    line->connecting = NULL;
    if (stream) {
        line->target = stream;
        stream_start(stream, &TARGET_HANDLER, line);
        return;
    }
    char text[ERR_MESSAGE_MAX + 512];
    snprintf(text, sizeof(text), "error forwarding port %d to pod %.253s, uid %.63s: %s",
             line->port, kube_meta_name(pod), kube_meta_uid(pod), err->message);
    if (line->streams[FORWARD_ERROR])
        spdy_stream_write(line->streams[FORWARD_ERROR], text, strlen(text));
    end_streams(line);
    if (line->streams[FORWARD_DATA])
        spdy_stream_pause(line->streams[FORWARD_DATA], false);
    settle(line);
}

/* ---- the peer's side ------------------------------------------------------------------------- */

static void on_data(void *context, const char *data, size_t size)
{
    struct forward_line *line = context;
    bool full = false;
    if (line->target_open && line->target && !line->target_closing) {
        stream_write(line->target, data, size);
        full = stream_pending(line->target) > TO_POD_HIGH;
    } else if (!line->target_open && (!line->opened || line->connecting || line->target)) {
        buf_append(&line->early, data, size);
        full = line->early.size > EARLY_HIGH;
    } /* else there is nobody to hear it */
    if (full)
        spdy_stream_pause(line->streams[FORWARD_DATA], true);
}

static void on_data_end(void *context)
{
    struct forward_line *line = context;
    line->peer_ended[FORWARD_DATA] = true;
    if (line->target && !line->target_closing) {
        if (line->target_ended) {
            line->target_closing = true;
            stream_finish(line->target);
        } else if (line->target_open) {
            stream_shut(line->target);
        }
    }
    settle(line);
}

static void on_data_reset(void *context)
{
    struct forward_line *line = context;
    line->streams[FORWARD_DATA] = spdy_stream_free(line->streams[FORWARD_DATA]);
    line->peer_ended[FORWARD_DATA] = true;
    close_target(line);
    end_streams(line);
    settle(line);
}

/* Nothing is expected on the error stream. */
static void on_error_data(void *context, const char *data, size_t size)
{
}

static void on_error_end(void *context)
{
    struct forward_line *line = context;
    line->peer_ended[FORWARD_ERROR] = true;
    settle(line);
}

static void on_error_reset(void *context)
{
    struct forward_line *line = context;
    line->streams[FORWARD_ERROR] = spdy_stream_free(line->streams[FORWARD_ERROR]);
    settle(line);
}

static const struct spdy_stream_handler STREAM_HANDLERS[FORWARD_STREAMS] = {
    [FORWARD_ERROR] = {.on_data = on_error_data,
                       .on_end = on_error_end,
                       .on_reset = on_error_reset},
    [FORWARD_DATA] = {.on_data = on_data, .on_end = on_data_end, .on_reset = on_data_reset},
};

/* ---- the beginning --------------------------------------------------------------------------- */

static void on_pair_timeout(struct loop_timer *timer)
{
    struct forward_line *line = CONTAINER_OF(timer, struct forward_line, timer);
    for (int i = 0; i < FORWARD_STREAMS; i++)
        line->streams[i] = spdy_stream_free(line->streams[i]);
    settle(line);
}

struct forward_line *forward_line_new(const struct forward_site *site, const char *request_id,
                                      int port)
{
    struct forward_line *line = mem_zalloc(sizeof(*line));
    line->site = site;
    line->request_id = mem_strdup(request_id);
    line->port = port;
    buf_init(&line->early, 16 * EARLY_HIGH); /* a pause takes effect after what was read at once */
    loop_timer_init(site->loop, &line->timer, on_pair_timeout);
    loop_timer_start(&line->timer, PAIR_TIMEOUT_MS);
    return line;
}

void forward_line_take(struct forward_line *line, enum forward_stream which,
                       struct spdy_stream *stream)
{
    line->streams[which] = stream;
    spdy_stream_accept(stream, &STREAM_HANDLERS[which], line);
    if (!line->streams[FORWARD_ERROR] || !line->streams[FORWARD_DATA])
        return;
    line->opened = true;
    loop_timer_stop(&line->timer);
    const struct engine_pod_backend *backend = &line->site->backend;
    line->connecting =
        backend->connect(backend->context, line->site->pod, line->port, on_connected, line);
}

void forward_line_resume(struct forward_line *line)
{
    if (line->target && !line->target_closing)
        stream_pause(line->target, false);
}
