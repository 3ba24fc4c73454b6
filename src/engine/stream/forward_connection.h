/* One forwarded connection: the peer's two channels for it, and the connection to the pod's port.
 * Bytes go both ways, each side ends by itself, a slow reader slows the other side, and the reason
 * why a connection could not be made is sent on the error channel. The channels belong to the
 * protocol that carries them: streams of SPDY (port_forward_spdy.c), or numbers before the messages
 * of WebSocket (port_forward_websocket.c). */
#ifndef TRAINYARD_ENGINE_FORWARD_CONNECTION_H
#define TRAINYARD_ENGINE_FORWARD_CONNECTION_H

#include "engine/engine.h"
#include "loop/loop.h"
#include "net/stream/stream.h"

enum forward_channel { FORWARD_ERROR, FORWARD_DATA, FORWARD_CHANNELS };

struct forward_connection;

/* What a line does with a channel. */
struct forward_channel_ops {
    void (*write)(void *channel, const void *data, size_t size);
    void (*end)(void *channel); /* nothing more is written to it; twice is fine */
    void (*pause)(void *channel, bool paused);
    void (*free)(void *channel);
    /* The pod's end is the end of the peer's side, too: the peer need not end its channels. */
    bool ends_together;
};

/* What the lines of a session share. */
struct forward_owner {
    struct loop *loop;
    struct engine_pod_backend backend;
    const struct json *pod;
    const struct forward_channel_ops *ops;
    size_t (*pending)(void *context); /* bytes that the peer has not taken */
    void (*gone)(void *context, struct forward_connection *connection);
    void *context;
};

struct forward_connection {
    struct forward_connection *next, *previous; /* the site's */
    const struct forward_owner *owner;
    char *request_id;
    int port;
    void *channels[FORWARD_CHANNELS]; /* NULL: not there yet, or no more */
    bool peer_ended[FORWARD_CHANNELS];
    bool opened;             /* both channels were there */
    struct loop_timer timer; /* for the second channel to come */
    void *connecting;        /* the backend's */
    struct stream *target;   /* NULL: none yet, or no more */
    bool target_open, target_ended, target_closing;
    struct buf early; /* for the target, before it is there */
};

/* A line of which one channel is known. */
struct forward_connection *forward_connection_new(const struct forward_owner *owner,
                                                  const char *request_id, int port);
/* Takes a channel that is not there yet; with the second one the connection is made. */
void forward_connection_take(struct forward_connection *connection, enum forward_channel which,
                             void *channel);
/* The peer has taken everything: go on reading from the pod. */
void forward_connection_resume(struct forward_connection *connection);

/* What the peer says on a channel: bytes for the pod, no more bytes, or that the channel is gone.
 * The line may be freed by the last two. */
void forward_connection_data(struct forward_connection *connection, const char *data, size_t size);
void forward_connection_end(struct forward_connection *connection, enum forward_channel which);
void forward_connection_reset(struct forward_connection *connection, enum forward_channel which);

#endif
