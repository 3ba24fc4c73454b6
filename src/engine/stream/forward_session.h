/* The part of a port forwarding session that both protocols share: its connections, and the end of
 * their pod. A protocol's own session (port_forward_spdy.c, port_forward_websocket.c) begins with a
 * forward_session and gives it a table of functions. A session is freed when the peer's connection
 * and all forwarded connections are gone. */
#ifndef TRAINYARD_ENGINE_STREAM_FORWARD_SESSION_H
#define TRAINYARD_ENGINE_STREAM_FORWARD_SESSION_H

#include "engine/api/open_calls.h"
#include "engine/stream/forward_connection.h"

struct forward_session;

struct forward_session_ops {
    struct forward_channel_ops channel;
    size_t (*pending)(const struct forward_session *session);
    /* Closes the protocol's session; called while the peer is connected. */
    void (*close)(struct forward_session *session);
    void (*free)(struct forward_session *session);
};

struct forward_session {
    const struct forward_session_ops *ops;
    struct forward_owner owner;
    struct arena *arena; /* of the pod and the key */
    const char *key;
    struct list_head connections; /* struct forward_connection */
    struct store_watch *watch;
    struct open_call link;
    struct loop_timer end_timer; /* runs when the pod has ended */
    bool over;                   /* no new connections; the session is closing */
    bool peer_gone;
};

/* `key` is the key of the pod in the store. The pod is copied. */
void forward_session_init(struct forward_session *self, struct engine *engine,
                          const struct forward_session_ops *ops, const char *key,
                          const struct json *pod);

/* Whether the peer may still open connections. */
bool forward_session_is_open(const struct forward_session *self);
struct forward_connection *forward_session_add(struct forward_session *self, const char *request_id,
                                               int port);

/* Everything that was written has been sent. */
void forward_session_drained(struct forward_session *self);
/* The peer has ended the session; `err` says why if it broke, else it is NULL. The peer's
 * connection still has to close. */
void forward_session_end(struct forward_session *self, const struct err *err);
/* The peer's connection is closed. Frees the session now, or with its last connection. */
void forward_session_peer_gone(struct forward_session *self);

#endif
