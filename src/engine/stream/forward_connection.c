/* Implements forwarded connections; see forward_connection.h. When the peer ends a channel, or the
 * connection to the pod is closed, forward_connection_free_if_done() runs. */
#include "engine/stream/forward_connection.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PAIR_TIMEOUT_MS = 30 * 1000, /* the longest time between the first and the second channel */
    /* Above this many bytes that the pod has not read, reading from the peer pauses. */
    TO_POD_HIGH = 1024 * 1024,
    /* Above this many bytes that the peer has not read, reading from the pod pauses. */
    TO_PEER_HIGH = 1024 * 1024,
    EARLY_HIGH = 64 * 1024, /* like TO_POD_HIGH, before the pod is connected */
};

/* ---- The end --------------------------------------------------------------------------------- */

static void free_channel(struct forward_connection *connection, enum forward_channel which)
{
    if (connection->channels[which])
        connection->owner->ops->free(TAKE(connection->channels[which]));
}

/* Resumes reading from the peer. */
static void resume_peer(struct forward_connection *connection)
{
    if (connection->channels[FORWARD_DATA])
        connection->owner->ops->pause(connection->channels[FORWARD_DATA], false);
}

static bool is_channel_over(const struct forward_connection *connection, enum forward_channel which)
{
    return !connection->channels[which] || connection->peer_ended[which];
}

/* Frees the connection if the peer has ended both channels and the connection to the pod is closed.
 * Freeing a channel also ends this server's side of it. */
static void forward_connection_free_if_done(struct forward_connection *connection)
{
    bool waits = !connection->opened &&
                 (connection->channels[FORWARD_ERROR] || connection->channels[FORWARD_DATA]);
    if (waits || connection->connecting || connection->target ||
        !is_channel_over(connection, FORWARD_ERROR) || !is_channel_over(connection, FORWARD_DATA))
        return;
    for (int i = 0; i < FORWARD_CHANNELS; i++)
        free_channel(connection, i);
    loop_timer_stop(&connection->timer);
    connection->owner->gone(connection->owner->context, connection);
    free(connection->request_id);
    buf_release(&connection->early);
    free(connection);
}

static void end_channels(struct forward_connection *connection)
{
    for (int i = 0; i < FORWARD_CHANNELS; i++)
        if (connection->channels[i]) {
            connection->owner->ops->end(connection->channels[i]);
            connection->peer_ended[i] =
                connection->peer_ended[i] || connection->owner->ops->ends_together;
        }
}

static void close_target(struct forward_connection *connection)
{
    if (connection->connecting)
        connection->owner->backend.connect_cancel(TAKE(connection->connecting));
    if (connection->target && !connection->target_closing) {
        connection->target_closing = true;
        stream_close(connection->target);
    }
}

/* ---- The pod's side -------------------------------------------------------------------------- */

static void on_target_open(void *context)
{
    struct forward_connection *connection = context;
    connection->target_open = true;
    if (connection->early.size)
        stream_write(connection->target, connection->early.data, connection->early.size);
    buf_release(&connection->early);
    resume_peer(connection);
    if (connection->peer_ended[FORWARD_DATA])
        stream_shut(connection->target);
}

static void on_target_data(void *context, const char *data, size_t size)
{
    struct forward_connection *connection = context;
    if (!connection->channels[FORWARD_DATA])
        return;
    connection->owner->ops->write(connection->channels[FORWARD_DATA], data, size);
    if (connection->owner->pending(connection->owner->context) > TO_PEER_HIGH)
        stream_pause(connection->target, true);
}

static void on_target_sent(void *context)
{
    struct forward_connection *connection = context;
    resume_peer(connection);
}

/* The pod sends no more bytes. Ends the channels to the peer. The peer may still send bytes to the
 * pod, unless ops->ends_together is set. */
static void on_target_end(void *context, const struct err *err)
{
    struct forward_connection *connection = context;
    connection->target_ended = true;
    end_channels(connection);
    if (err) {
        close_target(connection);
    } else if (connection->peer_ended[FORWARD_DATA]) {
        connection->target_closing = true;
        stream_finish(connection->target);
    }
}

static void on_target_closed(void *context)
{
    struct forward_connection *connection = context;
    connection->target = NULL;
    end_channels(connection);
    resume_peer(connection);
    forward_connection_free_if_done(connection);
}

static const struct stream_handler TARGET_HANDLER = {
    .on_open = on_target_open,
    .on_data = on_target_data,
    .on_sent = on_target_sent,
    .on_end = on_target_end,
    .on_closed = on_target_closed,
};

static void on_forward_connected(void *context, struct stream *stream, const struct err *err)
{
    struct forward_connection *connection = context;
    const struct json *pod = connection->owner->pod;
    connection->connecting = NULL;
    if (stream) {
        connection->target = stream;
        stream_start(stream, &TARGET_HANDLER, connection);
        return;
    }
    char text[ERR_MESSAGE_MAX + 512];
    snprintf(text, sizeof(text), "error forwarding port %d to pod %.253s, uid %.63s: %s",
             connection->port, kube_meta_name(pod), kube_meta_uid(pod), err->message);
    if (connection->channels[FORWARD_ERROR])
        connection->owner->ops->write(connection->channels[FORWARD_ERROR], text, strlen(text));
    end_channels(connection);
    resume_peer(connection);
    forward_connection_free_if_done(connection);
}

/* ---- The peer's side ------------------------------------------------------------------------- */

void forward_connection_data(struct forward_connection *connection, const char *data, size_t size)
{
    bool full = false;
    if (connection->target_open && connection->target && !connection->target_closing) {
        stream_write(connection->target, data, size);
        full = stream_pending(connection->target) > TO_POD_HIGH;
    } else if (!connection->target_open &&
               (!connection->opened || connection->connecting || connection->target)) {
        buf_append(&connection->early, data, size);
        full = connection->early.size > EARLY_HIGH;
    } /* otherwise the pod is gone, and the bytes are dropped */
    if (full)
        connection->owner->ops->pause(connection->channels[FORWARD_DATA], true);
}

static void end_data(struct forward_connection *connection)
{
    if (!connection->target || connection->target_closing)
        return;
    if (connection->target_ended) {
        connection->target_closing = true;
        stream_finish(connection->target);
    } else if (connection->target_open) {
        stream_shut(connection->target);
    }
}

void forward_connection_end(struct forward_connection *connection, enum forward_channel which)
{
    connection->peer_ended[which] = true;
    if (which == FORWARD_DATA)
        end_data(connection);
    forward_connection_free_if_done(connection);
}

void forward_connection_reset(struct forward_connection *connection, enum forward_channel which)
{
    free_channel(connection, which);
    if (which == FORWARD_DATA) {
        connection->peer_ended[FORWARD_DATA] = true;
        close_target(connection);
        end_channels(connection);
    }
    forward_connection_free_if_done(connection);
}

/* ---- The beginning --------------------------------------------------------------------------- */

static void on_pair_timeout(struct loop_timer *timer)
{
    struct forward_connection *connection = CONTAINER_OF(timer, struct forward_connection, timer);
    for (int i = 0; i < FORWARD_CHANNELS; i++)
        free_channel(connection, i);
    forward_connection_free_if_done(connection);
}

struct forward_connection *forward_connection_new(const struct forward_owner *owner,
                                                  const char *request_id, int port)
{
    struct forward_connection *connection = mem_zalloc(sizeof(*connection));
    connection->owner = owner;
    connection->request_id = mem_strdup(request_id);
    connection->port = port;
    /* Larger than EARLY_HIGH, because bytes that were read before the pause may still arrive. */
    buf_init(&connection->early, 16 * EARLY_HIGH);
    loop_timer_init(owner->loop, &connection->timer, on_pair_timeout);
    loop_timer_start(&connection->timer, PAIR_TIMEOUT_MS);
    return connection;
}

void forward_connection_take(struct forward_connection *connection, enum forward_channel which,
                             void *channel)
{
    connection->channels[which] = channel;
    if (!connection->channels[FORWARD_ERROR] || !connection->channels[FORWARD_DATA])
        return;
    connection->opened = true;
    loop_timer_stop(&connection->timer);
    const struct engine_pod_backend *backend = &connection->owner->backend;
    connection->connecting = backend->connect(backend->context, connection->owner->pod,
                                              connection->port, on_forward_connected, connection);
}

void forward_connection_resume(struct forward_connection *connection)
{
    if (connection->target && !connection->target_closing)
        stream_pause(connection->target, false);
}
