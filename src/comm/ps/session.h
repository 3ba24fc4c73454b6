/* A session: the server's side of the connection to one worker, from the first byte of the
 * handshake to the last answer. A session never blocks. It does not read requests while the worker
 * does not read the answers, so that the buffers stay limited. Called by server*.c, which make the
 * decisions that concern all workers. */
#ifndef TRAINYARD_COMM_PS_SESSION_H
#define TRAINYARD_COMM_PS_SESSION_H

#include "comm/ps/handler.h"
#include "comm/transport/handshake.h"

enum ps_session_state {
    PS_SESSION_HANDSHAKE,
    PS_SESSION_SERVING,
    PS_SESSION_WAITING, /* a request waits for a snapshot; no further requests are read */
    PS_SESSION_CLOSED,  /* the connection is closed; the server frees the session later */
};

struct ps_session {
    enum ps_session_state state;
    int fd;
    char from[SOCKET_ADDRESS_TEXT_MAX]; /* address of the peer */
    int64_t deadline;                   /* when the handshake times out (monotonic, ms) */
    struct handshake handshake;
    struct ps_handler handler;
    struct buf in, out;   /* received requests, and answers to be sent */
    size_t in_at, out_at; /* bytes of `in` that were handled; bytes of `out` that were sent */
    uint32_t events;      /* the events that are registered with epoll */

    /* Valid in state PS_SESSION_WAITING. */
    uint32_t sequence; /* sequence number of the request that waits */
    bool finishing;    /* the request is PS_FRAME_FINISH; false: PS_FRAME_SAVE */
    bool covered;      /* the snapshot that is being written contains the changes of this worker */
};

/* Starts the handshake as the acceptor. Takes ownership of `fd`. `identity` must outlive the
 * session. `deadline` is when the handshake times out (monotonic, ms). The caller frees the session
 * with ps_session_free(). */
struct ps_session *ps_session_new(int fd, const struct handshake_identity *identity,
                                  int64_t deadline);
struct ps_session *ps_session_free(struct ps_session *session);

/* Called when the handshake is done. The session then serves the worker with rank `worker`. */
void ps_session_begin(struct ps_session *session, struct ps_store *store, uint32_t worker);

/* Reads, answers and sends until the connection would block, the state is PS_SESSION_WAITING, or
 * the call has read enough that other sessions should be served first. Must not be called before
 * the handshake is done. Fails if the connection breaks or the worker sends an invalid message. */
int ps_session_progress(struct ps_session *session, struct err *err);

/* Queues the answer to the request of a session in PS_SESSION_WAITING, and sets the state to
 * PS_SESSION_SERVING. The next ps_session_progress() sends the answer. If `failure` is not NULL,
 * the answer refuses the request with this error. */
void ps_session_resume(struct ps_session *session, const struct err *failure);

/* Returns the epoll events that the session needs now. */
uint32_t ps_session_events(const struct ps_session *session);
/* Returns whether answers wait to be sent. */
bool ps_session_has_output(const struct ps_session *session);

#endif
