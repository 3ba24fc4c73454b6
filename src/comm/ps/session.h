/* One worker's connection, at the server: from the first byte of the handshake to the last answer.
 * Never blocks and never holds more than one message each way: who sends faster than it takes the
 * answers is not read from. Driven by ps_server, which decides what concerns all workers. */
#ifndef TRAINYARD_COMM_PS_SESSION_H
#define TRAINYARD_COMM_PS_SESSION_H

#include "comm/ps/handler.h"
#include "comm/transport/handshake.h"

enum ps_session_state {
    PS_SESSION_HANDSHAKE,
    PS_SESSION_SERVING,
    PS_SESSION_WAITING, /* for a snapshot; nothing is read meanwhile */
    PS_SESSION_CLOSED,  /* to be freed */
};

struct ps_session {
    enum ps_session_state state;
    int fd;
    char from[SOCKET_ADDRESS_TEXT_MAX];
    int64_t deadline; /* of the handshake */
    struct handshake handshake;
    struct ps_handler handler;
    struct buf in, out;
    size_t in_at, out_at; /* how much is answered, and sent */
    uint32_t events;      /* that epoll watches for */

    /* While waiting. */
    uint32_t sequence;
    bool finishing;
    bool covered; /* the snapshot that is being written has what it waits for */
};

/* Takes the descriptor. */
struct ps_session *ps_session_new(int fd, const struct handshake_identity *identity,
                                  int64_t deadline);
struct ps_session *ps_session_free(struct ps_session *session);

/* The handshake is over: serve this worker. */
void ps_session_begin(struct ps_session *session, struct ps_store *store, uint32_t worker);

/* Read, answer and send as much as goes; stops in PS_SESSION_WAITING, too. A negative result: the
 * connection is of no use any more. */
int ps_session_progress(struct ps_session *session, struct err *err);

/* In PS_SESSION_WAITING: the answer, `failure` NULL if all is well. */
void ps_session_resume(struct ps_session *session, const struct err *failure);

/* What to watch for, as epoll says it. */
uint32_t ps_session_events(const struct ps_session *session);
bool ps_session_has_output(const struct ps_session *session);

#endif
