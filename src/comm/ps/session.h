/* The server's side of the connection to one worker, from the first byte of the handshake to the
 * last answer. A session never blocks. It does not read from a worker that does not read its
 * answers, so that the buffers stay limited. Called by ps_server, which makes the decisions that
 * concern all workers. */
#ifndef TRAINYARD_COMM_PS_SESSION_H
#define TRAINYARD_COMM_PS_SESSION_H

#include "comm/ps/handler.h"
#include "comm/transport/handshake.h"

enum ps_session_state {
    PS_SESSION_HANDSHAKE,
    PS_SESSION_SERVING,
    PS_SESSION_WAITING, /* waits for a snapshot and reads nothing meanwhile */
    PS_SESSION_CLOSED,  /* to be freed */
};

struct ps_session {
    enum ps_session_state state;
    int fd;
    char from[SOCKET_ADDRESS_TEXT_MAX];
    int64_t deadline; /* when the handshake times out (monotonic, ms) */
    struct handshake handshake;
    struct ps_handler handler;
    struct buf in, out;
    size_t in_at, out_at; /* bytes of `in` that were answered; bytes of `out` that were sent */
    uint32_t events;      /* the events that are registered with epoll */

    /* Valid in state PS_SESSION_WAITING. */
    uint32_t sequence;
    bool finishing;
    bool covered; /* the snapshot that is being written contains the changes of this worker */
};

/* Takes ownership of the descriptor. */
struct ps_session *ps_session_new(int fd, const struct handshake_identity *identity,
                                  int64_t deadline);
struct ps_session *ps_session_free(struct ps_session *session);

/* Called when the handshake is done: serves `worker` from now on. */
void ps_session_begin(struct ps_session *session, struct ps_store *store, uint32_t worker);

/* Reads, answers and sends until the connection would block, the state is PS_SESSION_WAITING, or
 * other sessions must get their turn. Fails if the connection is broken or the worker sends invalid
 * messages. */
int ps_session_progress(struct ps_session *session, struct err *err);

/* Answers the request of a session in PS_SESSION_WAITING. `failure` is NULL if the snapshot
 * succeeded. */
void ps_session_resume(struct ps_session *session, const struct err *failure);

/* Returns the epoll events that the session needs now. */
uint32_t ps_session_events(const struct ps_session *session);
bool ps_session_has_output(const struct ps_session *session);

#endif
