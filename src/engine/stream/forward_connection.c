/* Forwarded connections; see forward_line.h. Every way a side can end runs through settle(), which
 * frees the line when nothing of it is left. */
#include "engine/stream/forward_connection.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PAIR_TIMEOUT_MS = 30 * 1000, /* between the two channels of a connection */
    TO_POD_HIGH = 1024 * 1024,   /* not taken by the pod: the whole session waits */
    TO_PEER_HIGH = 1024 * 1024,  /* not taken by the peer: the pod waits */
    EARLY_HIGH = 64 * 1024,      /* before there is a connection; then the session waits */
};

/* ---- the end --------------------------------------------------------------------------------- */

static void free_channel(struct forward_connection *line, enum forward_channel which)
{
    if (line->channels[which])
        line->site->ops->free(TAKE(line->channels[which]));
}

/* Let the peer go on. */
static void release_peer(struct forward_connection *line)
{
    if (line->channels[FORWARD_DATA])
        line->site->ops->pause(line->channels[FORWARD_DATA], false);
}

static bool is_channel_over(const struct forward_connection *line, enum forward_channel which)
{
    return !line->channels[which] || line->peer_ended[which];
}

/* Free the line once both sides of everything have ended. Our own sides end together with the
 * connection. */
static void settle(struct forward_connection *line)
{
    bool waits = !line->opened && (line->channels[FORWARD_ERROR] || line->channels[FORWARD_DATA]);
    if (waits || line->connecting || line->target || !is_channel_over(line, FORWARD_ERROR) ||
        !is_channel_over(line, FORWARD_DATA))
        return;
    for (int i = 0; i < FORWARD_CHANNELS; i++)
        free_channel(line, i);
    loop_timer_stop(&line->timer);
    line->site->gone(line->site->context, line);
    free(line->request_id);
    buf_release(&line->early);
    free(line);
}

static void end_channels(struct forward_connection *line)
{
    for (int i = 0; i < FORWARD_CHANNELS; i++)
        if (line->channels[i]) {
            line->site->ops->end(line->channels[i]);
            line->peer_ended[i] = line->peer_ended[i] || line->site->ops->ends_together;
        }
}

static void close_target(struct forward_connection *line)
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
    struct forward_connection *line = context;
    line->target_open = true;
    if (line->early.size)
        stream_write(line->target, line->early.data, line->early.size);
    buf_release(&line->early);
    release_peer(line);
    if (line->peer_ended[FORWARD_DATA])
        stream_shut(line->target);
}

static void on_target_data(void *context, const char *data, size_t size)
{
    struct forward_connection *line = context;
    if (!line->channels[FORWARD_DATA])
        return;
    line->site->ops->write(line->channels[FORWARD_DATA], data, size);
    if (line->site->pending(line->site->context) > TO_PEER_HIGH)
        stream_pause(line->target, true);
}

static void on_target_sent(void *context)
{
    struct forward_connection *line = context;
    release_peer(line);
}

/* The peer is told, and may have more to say to a pod that still listens. */
static void on_target_end(void *context, const struct err *err)
{
    struct forward_connection *line = context;
    line->target_ended = true;
    end_channels(line);
    if (err) {
        close_target(line);
    } else if (line->peer_ended[FORWARD_DATA]) {
        line->target_closing = true;
        stream_finish(line->target);
    }
}

static void on_target_closed(void *context)
{
    struct forward_connection *line = context;
    line->target = NULL;
    end_channels(line);
    release_peer(line);
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
    struct forward_connection *line = context;
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
    if (line->channels[FORWARD_ERROR])
        line->site->ops->write(line->channels[FORWARD_ERROR], text, strlen(text));
    end_channels(line);
    release_peer(line);
    settle(line);
}

/* ---- the peer's side ------------------------------------------------------------------------- */

void forward_connection_data(struct forward_connection *line, const char *data, size_t size)
{
    bool full = false;
    if (line->target_open && line->target && !line->target_closing) {
        stream_write(line->target, data, size);
        full = stream_pending(line->target) > TO_POD_HIGH;
    } else if (!line->target_open && (!line->opened || line->connecting || line->target)) {
        buf_append(&line->early, data, size);
        full = line->early.size > EARLY_HIGH;
    } /* else there is nobody to hear it */
    if (full)
        line->site->ops->pause(line->channels[FORWARD_DATA], true);
}

static void end_data(struct forward_connection *line)
{
    if (!line->target || line->target_closing)
        return;
    if (line->target_ended) {
        line->target_closing = true;
        stream_finish(line->target);
    } else if (line->target_open) {
        stream_shut(line->target);
    }
}

void forward_connection_end(struct forward_connection *line, enum forward_channel which)
{
    line->peer_ended[which] = true;
    if (which == FORWARD_DATA)
        end_data(line);
    settle(line);
}

void forward_connection_reset(struct forward_connection *line, enum forward_channel which)
{
    free_channel(line, which);
    if (which == FORWARD_DATA) {
        line->peer_ended[FORWARD_DATA] = true;
        close_target(line);
        end_channels(line);
    }
    settle(line);
}

/* ---- the beginning --------------------------------------------------------------------------- */

static void on_pair_timeout(struct loop_timer *timer)
{
    struct forward_connection *line = CONTAINER_OF(timer, struct forward_connection, timer);
    for (int i = 0; i < FORWARD_CHANNELS; i++)
        free_channel(line, i);
    settle(line);
}

struct forward_connection *forward_connection_new(const struct forward_site *site,
                                                  const char *request_id, int port)
{
    struct forward_connection *line = mem_zalloc(sizeof(*line));
    line->site = site;
    line->request_id = mem_strdup(request_id);
    line->port = port;
    buf_init(&line->early, 16 * EARLY_HIGH); /* a pause takes effect after what was read at once */
    loop_timer_init(site->loop, &line->timer, on_pair_timeout);
    loop_timer_start(&line->timer, PAIR_TIMEOUT_MS);
    return line;
}

void forward_connection_take(struct forward_connection *line, enum forward_channel which,
                             void *channel)
{
    line->channels[which] = channel;
    if (!line->channels[FORWARD_ERROR] || !line->channels[FORWARD_DATA])
        return;
    line->opened = true;
    loop_timer_stop(&line->timer);
    const struct engine_pod_backend *backend = &line->site->backend;
    line->connecting =
        backend->connect(backend->context, line->site->pod, line->port, on_connected, line);
}

void forward_connection_resume(struct forward_connection *line)
{
    if (line->target && !line->target_closing)
        stream_pause(line->target, false);
}
