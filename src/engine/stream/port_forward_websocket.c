/* Port forwarding over WebSocket messages that start with a channel number; see port_forward.h. */
#include "engine/stream/port_forward.h"

#include "base/mem.h"
#include "engine/stream/channel_message.h"
#include "engine/stream/forward_session.h"
#include "net/stream/websocket.h"
#include "net/stream/websocket_session.h"

#include <stdlib.h>

enum { PER_PORT = 2 }; /* channels per port: data and errors */

struct channel {
    struct websocket_forward *owner;
    struct forward_connection *connection; /* NULL: not created yet, or freed */
    int number;
    bool paused;
};

struct websocket_forward {
    struct forward_session base;
    struct websocket_session *session; /* NULL: closed */
    struct port_forward_ports ports;
    struct channel *channels; /* PER_PORT per port: data, then errors */
    /* The channel of the message that is being read, or CHANNEL_MESSAGE_UNKNOWN. */
    int channel;
    size_t paused_count;
};

/* ---- Operations for forward_connection.c ----------------------------------------------------- */

static void port_forward_websocket_write(void *context, const void *data, size_t size)
{
    const struct channel *channel = context;
    if (channel->owner->session)
        websocket_session_write_channel(channel->owner->session, channel->number, data, size);
}

static void end_channel(void *context)
{
    /* The server cannot tell the client that one channel has ended. The session closes when all
     * its connections are freed. */
}

static void pause_channel(void *context, bool paused)
{
    struct channel *channel = context;
    struct websocket_forward *self = channel->owner;
    if (channel->paused == paused)
        return;
    channel->paused = paused;
    self->paused_count += paused ? 1 : (size_t)-1;
    if (self->session)
        websocket_session_pause(self->session, self->paused_count > 0);
}

static void free_channel(void *context)
{
    struct channel *channel = context;
    pause_channel(channel, false);
    channel->connection = NULL;
}

static struct websocket_forward *port_forward_websocket_of(const struct forward_session *base)
{
    return CONTAINER_OF(base, struct websocket_forward, base);
}

static size_t port_forward_websocket_pending(const struct forward_session *base)
{
    return port_forward_websocket_of(base)->session
               ? websocket_session_pending(port_forward_websocket_of(base)->session)
               : 0;
}

static void close_websocket(struct forward_session *base)
{
    if (port_forward_websocket_of(base)->session)
        websocket_session_close(port_forward_websocket_of(base)->session, WEBSOCKET_NORMAL, "");
}

static void free_websocket(struct forward_session *base)
{
    struct websocket_forward *self = port_forward_websocket_of(base);
    free(self->channels);
    free(self);
}

static const struct forward_session_ops OPS = {
    .channel = {.write = port_forward_websocket_write,
                .end = end_channel,
                .pause = pause_channel,
                .free = free_channel,
                .ends_together = true},
    .pending = port_forward_websocket_pending,
    .close = close_websocket,
    .free = free_websocket,
};

/* ---- The peer's messages --------------------------------------------------------------------- */

static void open_port(struct websocket_forward *self, size_t index)
{
    struct channel *data = &self->channels[index * PER_PORT], *error = data + 1;
    const int port = self->ports.ports[index];
    const unsigned char number[] = {port & 0xFF, port >> 8};
    struct forward_connection *connection = forward_session_add(&self->base, "", port);
    data->connection = error->connection = connection;
    port_forward_websocket_write(data, number, sizeof(number));
    port_forward_websocket_write(error, number, sizeof(number));
    forward_connection_take(connection, FORWARD_ERROR, error);
    forward_connection_take(connection, FORWARD_DATA, data);
}

static void on_port_forward_websocket_open(void *context)
{
    struct websocket_forward *self = context;
    for (size_t i = 0; i < self->ports.count && forward_session_is_open(&self->base); i++)
        open_port(self, i);
}

/* Returns the connection whose data channel this is, or NULL. */
static struct forward_connection *port_forward_websocket_find(const struct websocket_forward *self,
                                                              int channel)
{
    bool known = channel >= 0 && (size_t)channel < self->ports.count * PER_PORT;
    return known && channel % PER_PORT == 0 ? self->channels[channel].connection : NULL;
}

static void on_port_forward_websocket_data(void *context, const char *data, size_t size, bool first,
                                           bool last)
{
    struct websocket_forward *self = context;
    channel_message_read(&self->channel, first, &data, &size);
    if (size == 0)
        return;
    bool closes = self->channel == CHANNEL_MESSAGE_CLOSE && self->ports.half_closes;
    struct forward_connection *connection =
        port_forward_websocket_find(self, closes ? (unsigned char)data[0] : self->channel);
    if (connection && closes)
        forward_connection_end(connection, FORWARD_DATA);
    else if (connection)
        forward_connection_data(connection, data, size);
}

static void on_port_forward_websocket_drain(void *context)
{
    forward_session_drained(&((struct websocket_forward *)context)->base);
}

/* Ends the remaining connections to the pod. */
static void reset_connections(struct websocket_forward *self)
{
    for (size_t i = 0; i < self->ports.count * PER_PORT; i += PER_PORT) {
        struct channel *data = &self->channels[i], *error = data + 1;
        if (error->connection)
            forward_connection_reset(error->connection, FORWARD_ERROR);
        if (data->connection)
            forward_connection_reset(data->connection, FORWARD_DATA);
    }
}

static void on_port_forward_websocket_end(void *context, const struct err *err)
{
    struct websocket_forward *self = context;
    forward_session_end(&self->base, err);
    reset_connections(self);
}

static void on_port_forward_websocket_closed(void *context)
{
    struct websocket_forward *self = context;
    self->session = NULL;
    reset_connections(self);
    forward_session_peer_gone(&self->base);
}

static const struct websocket_session_handler SESSION_HANDLER = {
    .on_open = on_port_forward_websocket_open,
    .on_data = on_port_forward_websocket_data,
    .on_drain = on_port_forward_websocket_drain,
    .on_end = on_port_forward_websocket_end,
    .on_closed = on_port_forward_websocket_closed,
};

void port_forward_websocket_new(struct engine *engine, struct stream *stream, const char *key,
                                const struct json *pod, const struct port_forward_ports *ports)
{
    struct websocket_forward *self = mem_zalloc(sizeof(*self));
    self->ports = *ports;
    self->channel = CHANNEL_MESSAGE_UNKNOWN;
    self->channels = mem_zalloc(ports->count * PER_PORT * sizeof(*self->channels));
    for (size_t i = 0; i < ports->count * PER_PORT; i++)
        self->channels[i] = (struct channel){.owner = self, .number = (int)i};
    forward_session_init(&self->base, engine, &OPS, key, pod);
    self->session = websocket_session_new(self->base.owner.loop, stream, &SESSION_HANDLER, self);
}
