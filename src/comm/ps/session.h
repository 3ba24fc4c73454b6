/* The connection of one worker at the server, from the first byte of the handshake to the last
 * answer. It never blocks and holds at most one message per direction: it does not read from a
 * worker that does not take its answers. Called by ps_server, which decides what concerns all
 * workers. */
#ifndef TRAINYARD_COMM_PS_SESSION_H
#define TRAINYARD_COMM_PS_SESSION_H

#include "comm/ps/handler.h"
#include "comm/transport/handshake.h"

enum ps_session_state {
    PS_SESSION_HANDSHAKE,
    PS_SESSION_SERVING,
    PS_SESSION_WAITING, /* waits for a snapshot; nothing is read until then */
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
    size_t in_at, out_at; /* bytes of `in` that are answered, and of `out` that are sent */
    uint32_t events;      /* the events that epoll watches for */

    /* In PS_SESSION_WAITING. */
    uint32_t sequence;
    bool finishing;
    bool covered; /* the snapshot that is being written contains the changes it waits for */
};

/* Takes ownership of the descriptor. */
struct ps_session *ps_session_new(int fd, const struct handshake_identity *identity,
                                  int64_t deadline);
struct ps_session *ps_session_free(struct ps_session *session);

/* The handshake is done: serves this worker from now on. */
void ps_session_begin(struct ps_session *session, struct ps_store *store, uint32_t worker);

/* Reads, answers and sends until the connection would block or the state is PS_SESSION_WAITING.
 * Fails if the connection is broken or the worker sends invalid messages. */
int ps_session_progress(struct ps_session *session, struct err *err);

/* In PS_SESSION_WAITING: answers the request; `failure` is NULL on success. */
void ps_session_resume(struct ps_session *session, const struct err *failure);

/* The epoll events to watch for. */
uint32_t ps_session_events(const struct ps_session *session);
bool ps_session_has_output(const struct ps_session *session);

#endif
