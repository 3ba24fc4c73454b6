/* The part of a port forwarding session that both protocols share. It has the list of forwarded
 * connections, and closes the session when the pod ends. The session of a protocol
 * (port_forward_spdy.c, port_forward_websocket.c) has a forward_session as its first member and
 * implements forward_session_ops. The peer is the client. A session is freed when the connection to
 * the peer and all forwarded connections are closed. */
#ifndef TRAINYARD_ENGINE_STREAM_FORWARD_SESSION_H
#define TRAINYARD_ENGINE_STREAM_FORWARD_SESSION_H

#include "engine/api/open_calls.h"
#include "engine/stream/forward_connection.h"

struct forward_session;

struct forward_session_ops {
    struct forward_channel_ops channel;
    /* Returns the number of bytes that the peer has not read. */
    size_t (*pending)(const struct forward_session *session);
    /* Closes the protocol's session. Called only while the peer is connected. */
    void (*close)(struct forward_session *session);
    void (*free)(struct forward_session *session); /* frees the memory of the session */
};

struct forward_session {
    const struct forward_session_ops *ops;
    struct forward_owner owner;
    struct arena *arena;          /* owns the pod and `key` */
    const char *key;              /* the key of the pod in the store */
    struct list_head connections; /* struct forward_connection */
    struct store_watch *watch;    /* reports changes of the pod */
    struct open_call link;        /* in the list of open calls */
    struct loop_timer end_timer;  /* started when the pod has ended; closes the session */
    bool over;                    /* the session is closing and accepts no new connections */
    bool peer_gone;               /* the connection to the peer is closed */
};

/* `key` is the key of the pod in the store. Copies `key` and `pod`. */
void forward_session_init(struct forward_session *self, struct engine *engine,
                          const struct forward_session_ops *ops, const char *key,
                          const struct json *pod);

/* Returns whether the peer may still open connections. */
bool forward_session_is_open(const struct forward_session *self);
/* Creates a connection without channels and adds it to the session. */
struct forward_connection *forward_session_add(struct forward_session *self, const char *request_id,
                                               int port);

/* Called when all written bytes have been sent to the peer. */
void forward_session_drained(struct forward_session *self);
/* Called when the session of the protocol ends. `err` is the reason if the session has failed, and
 * NULL if the peer has ended it. The caller calls forward_session_peer_gone() later. */
void forward_session_end(struct forward_session *self, const struct err *err);
/* Called when the connection to the peer is closed. Frees the session now, or when its last
 * forwarded connection is closed. */
void forward_session_peer_gone(struct forward_session *self);

#endif
