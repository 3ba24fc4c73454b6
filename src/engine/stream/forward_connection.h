/* One forwarded connection: two channels to the peer (the client), and the connection to the pod's
 * port. Bytes flow in both directions. The direction to the pod can end alone. The direction to
 * the peer can, too, unless `ends_together` is set. If one side reads slowly, reading from the
 * other side pauses. If the connection to the pod fails, the reason is sent on the error channel.
 * The session (forward_session.h) implements the channels: as SPDY streams (port_forward_spdy.c),
 * or as WebSocket messages that start with a channel number (port_forward_websocket.c). */
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
    void (*end)(void *channel); /* ends the server's side of the channel; safe to call twice */
    void (*pause)(void *channel, bool paused);
    void (*free)(void *channel);
    /* When the pod ends the connection, the peer's side also counts as ended, even if the peer has
     * not ended its channels. */
    bool ends_together;
};

/* The part of a session that its connections use. */
struct forward_owner {
    struct loop *loop;
    struct engine_pod_backend backend;
    const struct json *pod;
    const struct forward_channel_ops *ops;
    size_t (*pending)(void *context); /* returns the number of bytes that the peer has not read */
    /* Called before the connection is freed. Must remove the connection from its list. */
    void (*gone)(void *context, struct forward_connection *connection);
    void *context;
};

struct forward_connection {
    struct list_link link; /* in forward_session.connections */
    const struct forward_owner *owner;
    char *request_id; /* identifies the connection if streams arrive in pairs; else "" */
    int port;
    void *channels[FORWARD_CHANNELS];  /* NULL: not opened yet, or freed */
    bool peer_ended[FORWARD_CHANNELS]; /* the peer has ended its side of the channel */
    bool opened;                       /* both channels have arrived */
    struct loop_timer timer;           /* limits the time until the second channel arrives */
    void *connecting;                  /* the backend's handle; NULL: not connecting */
    struct stream *target;             /* to the pod; NULL: not connected yet, or closed */
    bool target_open;                  /* `target` accepts bytes */
    bool target_ended;   /* the pod has ended its side, or the connection has failed */
    bool target_closing; /* `target` is being closed */
    struct buf early;    /* bytes from the peer that arrived before `target` was connected */
};

/* Creates a connection without channels. If one of the two channels has not arrived after 30
 * seconds, the connection frees its channels and itself. */
struct forward_connection *forward_connection_new(const struct forward_owner *owner,
                                                  const char *request_id, int port);
/* Takes ownership of one channel. Starts to connect to the pod when both channels are set, and
 * returns at once. */
void forward_connection_take(struct forward_connection *connection, enum forward_channel which,
                             void *channel);
/* Called when all written bytes have been sent to the peer. Resumes reading from the pod. */
void forward_connection_resume(struct forward_connection *connection);

/* The session calls these functions when the peer sends bytes, ends a channel, or resets a channel.
 * forward_connection_end() and forward_connection_reset() may free the connection. */
void forward_connection_data(struct forward_connection *connection, const char *data, size_t size);
void forward_connection_end(struct forward_connection *connection, enum forward_channel which);
void forward_connection_reset(struct forward_connection *connection, enum forward_channel which);

#endif
