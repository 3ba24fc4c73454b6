/* Implements the server's side of the connection to one worker; see session.h. */
#include "comm/ps/session.h"

#include "base/mem.h"
#include "comm/transport/socket.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>

enum {
    READ_SIZE = 64 << 10,   /* minimum size of one read, in bytes */
    PROGRESS_MAX = 4 << 20, /* bytes after which one ps_session_progress() reads no more */
    OUT_ENOUGH = 64 << 10,  /* bytes of answers that are collected before they are sent */
};

struct ps_session *ps_session_new(int fd, const struct handshake_identity *identity,
                                  int64_t deadline)
{
    struct ps_session *session = mem_zalloc(sizeof(*session));
    session->fd = fd;
    session->deadline = deadline;
    handshake_init_acceptor(&session->handshake, fd, identity);
    buf_init(&session->in, PS_FRAME_HEAD_SIZE + PS_FRAME_MAX + READ_SIZE);
    buf_init(&session->out, PS_FRAME_HEAD_SIZE + PS_FRAME_MAX + OUT_ENOUGH);
    return session;
}

struct ps_session *ps_session_free(struct ps_session *session)
{
    if (!session)
        return NULL;
    if (session->state != PS_SESSION_HANDSHAKE && session->fd >= 0)
        close(session->fd);
    handshake_release(&session->handshake); /* closes the descriptor while the handshake owns it */
    ps_handler_release(&session->handler);
    buf_release(&session->in);
    buf_release(&session->out);
    free(session);
    return NULL;
}

/* Sends the finished part of an answer whose rest is still being computed. `ready` is the end of
 * this part in `out`. Ignores a failure, because sending the rest fails again and reports it. */
static void session_send_part(void *context, size_t ready)
{
    struct ps_session *session = context;
    ssize_t sent =
        socket_send(session->fd, session->out.data + session->out_at, ready - session->out_at);
    session->out_at += sent > 0 ? (size_t)sent : 0;
}

void ps_session_begin(struct ps_session *session, struct ps_store *store, uint32_t worker)
{
    session->fd = handshake_take(&session->handshake).fd;
    ps_handler_init(&session->handler, store, worker);
    session->handler.on_part = session_send_part;
    session->handler.context = session;
    session->state = PS_SESSION_SERVING;
}

bool ps_session_has_output(const struct ps_session *session)
{
    return session->out_at < session->out.size;
}

uint32_t ps_session_events(const struct ps_session *session)
{
    if (session->state == PS_SESSION_HANDSHAKE)
        return handshake_events(&session->handshake) == POLLOUT ? EPOLLOUT : EPOLLIN;
    if (ps_session_has_output(session))
        return EPOLLOUT;
    return session->state == PS_SESSION_SERVING ? EPOLLIN : 0;
}

static int session_broken_error(int errnum, struct err *err)
{
    return err_set(err, ERR_UNAVAILABLE, "%s", socket_reason(errnum));
}

static int session_send_output(struct ps_session *session, struct err *err)
{
    while (ps_session_has_output(session)) {
        ssize_t sent = socket_send(session->fd, session->out.data + session->out_at,
                                   session->out.size - session->out_at);
        if (sent == -EAGAIN)
            return 0;
        if (sent < 0)
            return session_broken_error((int)-sent, err);
        session->out_at += (size_t)sent;
    }
    buf_clear(&session->out);
    session->out_at = 0;
    return 0;
}

/* Sets *ret_missing to the number of bytes that the next message still lacks, or to 0 if the
 * message is complete. While its head is incomplete, only the head counts. Sets *ret_frame if the
 * head is complete. */
static int session_missing_input(const struct ps_session *session, struct ps_frame *ret_frame,
                                 size_t *ret_missing, struct err *err)
{
    size_t have = session->in.size - session->in_at, whole = PS_FRAME_HEAD_SIZE;
    if (have >= PS_FRAME_HEAD_SIZE) {
        const uint8_t *head = (const uint8_t *)session->in.data + session->in_at;
        int result = ps_frame_decode(head, ret_frame, err);
        if (result < 0)
            return result;
        whole += ps_frame_padded(ret_frame->size);
    }
    *ret_missing = have < whole ? whole - have : 0;
    return 0;
}

/* Answers the messages that have arrived. Stops at an incomplete message, at a message that must
 * wait for a snapshot, or when OUT_ENOUGH bytes of answers are collected. */
static int session_answer_input(struct ps_session *session, size_t *ret_missing, struct err *err)
{
    struct ps_frame frame = {0};
    int result;
    while ((result = session_missing_input(session, &frame, ret_missing, err)) == 0 &&
           *ret_missing == 0 && session->out.size < OUT_ENOUGH) {
        const uint8_t *head = (const uint8_t *)session->in.data + session->in_at;
        enum ps_handler_result outcome =
            ps_handler_request(&session->handler, &frame, head + PS_FRAME_HEAD_SIZE, &session->out);
        session->in_at += PS_FRAME_HEAD_SIZE + ps_frame_padded(frame.size);
        if (outcome == PS_HANDLER_ANSWERED)
            continue;
        session->state = PS_SESSION_WAITING;
        session->sequence = frame.sequence;
        session->finishing = outcome == PS_HANDLER_FINISH;
        session->covered = false;
        return 0;
    }
    if (result == 0 && *ret_missing) {
        buf_consume(&session->in, session->in_at);
        session->in_at = 0;
    }
    return result;
}

int ps_session_progress(struct ps_session *session, struct err *err)
{
    for (size_t received = 0;;) {
        size_t needed = 0;
        int result = session_send_output(session, err);
        if (result < 0 || ps_session_has_output(session) || session->state != PS_SESSION_SERVING)
            return result;
        if ((result = session_answer_input(session, &needed, err)) < 0)
            return result;
        if (session->out.size)
            continue;
        if (session->state != PS_SESSION_SERVING || received >= PROGRESS_MAX)
            return 0;
        /* A message that lacks more than READ_SIZE bytes is read to its end and no further, so that
         * no bytes of the next message have to be moved. */
        size_t size = needed > READ_SIZE ? needed : READ_SIZE;
        char *room = buf_reserve(&session->in, size);
        ssize_t got = room ? socket_recv(session->fd, room, size) : -EMSGSIZE;
        if (got == -EAGAIN)
            return 0;
        if (got < 0)
            return session_broken_error((int)-got, err);
        buf_commit(&session->in, (size_t)got);
        received += (size_t)got;
    }
}

void ps_session_resume(struct ps_session *session, const struct err *failure)
{
    if (failure)
        ps_handler_refuse(session->sequence, failure, &session->out);
    else
        ps_handler_done(session->sequence, &session->out);
    session->state = PS_SESSION_SERVING;
}
