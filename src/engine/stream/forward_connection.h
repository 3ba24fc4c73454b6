/* One forwarded connection: the peer's two channels for it, and the connection to the pod's port.
 * Bytes go both ways, each side can end alone, and a slow reader slows the other side down. If the
 * connection to the pod fails, the reason is sent on the error channel. The channels belong to the
 * protocol of the session: streams of SPDY (port_forward_spdy.c), or numbers before the messages of
 * WebSocket (port_forward_websocket.c). */
#ifndef TRAINYARD_ENGINE_STREAM_FORWARD_CONNECTION_H
#define TRAINYARD_ENGINE_STREAM_FORWARD_CONNECTION_H

#include "engine/engine.h"
#include "loop/loop.h"
#include "net/stream/stream.h"

enum forward_channel { FORWARD_ERROR, FORWARD_DATA, FORWARD_CHANNELS };

struct forward_connection;

/* The operations of a channel. */
struct forward_channel_ops {
    void (*write)(void *channel, const void *data, size_t size);
    void (*end)(void *channel); /* nothing more is written to it; may be called twice */
    void (*pause)(void *channel, bool paused);
    void (*free)(void *channel);
    /* When the pod ends the connection, the peer's side counts as ended, too: the peer need not end
     * its channels. */
    bool ends_together;
};

/* The session of a connection, as far as the connection knows it. */
struct forward_owner {
    struct loop *loop;
    struct engine_pod_backend backend;
    const struct json *pod;
    const struct forward_channel_ops *ops;
    size_t (*pending)(void *context); /* bytes that the peer has not read yet */
    void (*gone)(void *context, struct forward_connection *connection);
    void *context;
};

struct forward_connection {
    struct list_link link; /* in forward_session.connections */
    const struct forward_owner *owner;
    char *request_id;
    int port;
    void *channels[FORWARD_CHANNELS]; /* NULL: not there yet, or gone */
    bool peer_ended[FORWARD_CHANNELS];
    bool opened;             /* both channels have arrived */
    struct loop_timer timer; /* limits the time until the second channel arrives */
    void *connecting;        /* the backend's handle; NULL: not connecting */
    struct stream *target;   /* NULL: not connected yet, or closed */
    bool target_open, target_ended, target_closing;
    struct buf early; /* bytes for the target that arrived before it was connected */
};

/* Creates a connection of which one channel is known. */
struct forward_connection *forward_connection_new(const struct forward_owner *owner,
                                                  const char *request_id, int port);
/* Takes one of the channels. Connects to the pod when both are there. */
void forward_connection_take(struct forward_connection *connection, enum forward_channel which,
                             void *channel);
/* The peer has read everything: reads from the pod again. */
void forward_connection_resume(struct forward_connection *connection);

/* The peer sends bytes, ends a channel, or resets a channel. The last two may free the connection.
 */
void forward_connection_data(struct forward_connection *connection, const char *data, size_t size);
void forward_connection_end(struct forward_connection *connection, enum forward_channel which);
void forward_connection_reset(struct forward_connection *connection, enum forward_channel which);

#endif
