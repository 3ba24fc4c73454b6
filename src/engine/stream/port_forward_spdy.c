/* Port forwarding over SPDY, as kubectl uses it, directly or inside WebSocket messages; see
 * port_forward.h. */
#include "engine/stream/port_forward.h"

#include "base/mem.h"
#include "base/str.h"
#include "engine/stream/forward_session.h"
#include "net/stream/spdy_session.h"

#include <stdlib.h>

struct spdy_forward {
    struct forward_session base;
    struct spdy_session *session;
};

/* ---- Operations for forward_connection.c ----------------------------------------------------- */

static void write_stream(void *channel, const void *data, size_t size)
{
    spdy_stream_write(channel, data, size);
}

static void end_stream(void *channel)
{
    spdy_stream_end(channel);
}

static void pause_stream(void *channel, bool paused)
{
    spdy_stream_pause(channel, paused);
}

static void free_stream(void *channel)
{
    spdy_stream_free(channel);
}

static struct spdy_forward *port_forward_spdy_of(const struct forward_session *base)
{
    return CONTAINER_OF(base, struct spdy_forward, base);
}

static size_t port_forward_spdy_pending(const struct forward_session *base)
{
    return spdy_session_pending(port_forward_spdy_of(base)->session);
}

static void close_spdy(struct forward_session *base)
{
    spdy_session_close(port_forward_spdy_of(base)->session);
}

static void free_spdy(struct forward_session *base)
{
    free(port_forward_spdy_of(base));
}

static const struct forward_session_ops OPS = {
    .channel = {.write = write_stream,
                .end = end_stream,
                .pause = pause_stream,
                .free = free_stream},
    .pending = port_forward_spdy_pending,
    .close = close_spdy,
    .free = free_spdy,
};

/* ---- The peer's streams ---------------------------------------------------------------------- */

static void on_port_forward_spdy_data(void *context, const char *data, size_t size)
{
    forward_connection_data(context, data, size);
}

static void on_data_end(void *context)
{
    forward_connection_end(context, FORWARD_DATA);
}

static void on_data_reset(void *context)
{
    forward_connection_reset(context, FORWARD_DATA);
}

/* Ignores data on the error stream, because the peer sends none. */
static void on_error_data(void *context, const char *data, size_t size)
{
}

static void on_error_end(void *context)
{
    forward_connection_end(context, FORWARD_ERROR);
}

static void on_error_reset(void *context)
{
    forward_connection_reset(context, FORWARD_ERROR);
}

static const struct spdy_stream_handler STREAM_HANDLERS[FORWARD_CHANNELS] = {
    [FORWARD_ERROR] = {.on_data = on_error_data,
                       .on_end = on_error_end,
                       .on_reset = on_error_reset},
    [FORWARD_DATA] = {.on_data = on_port_forward_spdy_data,
                      .on_end = on_data_end,
                      .on_reset = on_data_reset},
};

/* Returns the connection that still needs this stream, or NULL. */
static struct forward_connection *port_forward_spdy_find(struct spdy_forward *self,
                                                         const char *request_id, int port,
                                                         enum forward_channel which)
{
    LIST_EACH (struct forward_connection, connection, &self->base.connections, link)
        if (!connection->opened && !connection->channels[which] && connection->port == port &&
            str_eq(connection->request_id, request_id))
            return connection;
    return NULL;
}

static void on_port_forward_spdy_stream(void *context, struct spdy_stream *stream,
                                        const struct http_header *headers)
{
    struct spdy_forward *self = context;
    const char *type = http_header_get(headers, "streamtype");
    const char *request_id = http_header_get(headers, "requestid");
    int64_t port;
    const char *port_text = http_header_get(headers, "port");
    if (!forward_session_is_open(&self->base) || !port_text ||
        str_to_int64(port_text, 1, 65535, &port, NULL) < 0 ||
        !(str_eq(type, "error") || str_eq(type, "data")))
        return; /* a stream without a handler is rejected by the SPDY session */
    enum forward_channel which = str_eq(type, "error") ? FORWARD_ERROR : FORWARD_DATA;
    _cleanup_free_ char *implied = NULL;
    if (!request_id) {
        /* A client that does not send the header requestID opens the two streams one after another,
         * the error stream first. */
        implied = mem_printf("%u", spdy_stream_id(stream) - (which == FORWARD_DATA ? 2U : 0U));
        request_id = implied;
    }
    struct forward_connection *connection =
        port_forward_spdy_find(self, request_id, (int)port, which);
    if (!connection)
        connection = forward_session_add(&self->base, request_id, (int)port);
    spdy_stream_accept(stream, &STREAM_HANDLERS[which], connection);
    forward_connection_take(connection, which, stream);
}

/* ---- The peer's session ---------------------------------------------------------------------- */

static void on_port_forward_spdy_drain(void *context)
{
    forward_session_drained(&((struct spdy_forward *)context)->base);
}

static void on_port_forward_spdy_end(void *context, const struct err *err)
{
    forward_session_end(&((struct spdy_forward *)context)->base, err);
}

static void on_port_forward_spdy_closed(void *context)
{
    forward_session_peer_gone(&((struct spdy_forward *)context)->base);
}

static const struct spdy_session_handler SESSION_HANDLER = {
    .on_stream = on_port_forward_spdy_stream,
    .on_drain = on_port_forward_spdy_drain,
    .on_end = on_port_forward_spdy_end,
    .on_closed = on_port_forward_spdy_closed,
};

void port_forward_spdy_new(struct engine *engine, struct stream *stream, const char *key,
                           const struct json *pod)
{
    struct spdy_forward *self = mem_zalloc(sizeof(*self));
    forward_session_init(&self->base, engine, &OPS, key, pod);
    self->session = spdy_session_new(stream, &SESSION_HANDLER, self);
}
