/* Implements the connection of a worker to one server; see link.h. Functions with "raw" in their
 * names and ps_link_exchange() use only the current connection and fail with ERR_UNAVAILABLE if it
 * is lost. The other ps_link_… functions that send or receive reconnect. */
#include "comm/ps/link.h"

#include "base/mem.h"
#include "base/moment.h"
#include "comm/transport/socket.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

void ps_link_init(struct ps_link *link, const struct ps_member *member, int rank, int fd,
                  int64_t timeout_ms, ps_link_reopen *reopen, void *context)
{
    *link = (struct ps_link){.member = member,
                             .rank = rank,
                             .fd = fd,
                             .timeout_ms = timeout_ms,
                             .reopen = reopen,
                             .context = context};
    for (size_t i = 0; i < PS_LINK_WINDOW; i++)
        buf_init(&link->pushes[i], PS_FRAME_HEAD_SIZE + PS_FRAME_MAX);
}

static void link_close(struct ps_link *link)
{
    if (link->fd >= 0)
        close(link->fd);
    link->fd = -1;
}

void ps_link_release(struct ps_link *link)
{
    if (!link->member)
        return;
    link_close(link);
    for (size_t i = 0; i < PS_LINK_WINDOW; i++)
        buf_release(&link->pushes[i]);
    *link = (struct ps_link){.fd = -1};
}

/* ---- On the current connection */

static int link_lost_error(const struct ps_link *link, int errnum, struct err *err)
{
    char name[TF_CONFIG_TASK_TEXT_MAX];
    ps_member_describe(link->member, link->rank, name);
    return err_set(err, ERR_UNAVAILABLE, "lost %s: %s", name, socket_reason(errnum));
}

/* Waits until the connection is ready for `events`. A server that does not answer may only be slow,
 * so it is reported every `report_ms`, and the wait fails only after `timeout_ms`. `stop` is
 * checked before each report. */
static int link_wait_ready(const struct ps_link *link, short events, struct err *err)
{
    char name[TF_CONFIG_TASK_TEXT_MAX];
    const struct rendezvous_options *rendezvous = &link->member->rendezvous;
    int64_t started = moment_monotonic_ms(), waited = 0, next_report = rendezvous->report_ms;
    for (;;) {
        struct pollfd ready = {.fd = link->fd, .events = events};
        int64_t until = next_report < link->timeout_ms ? next_report : link->timeout_ms;
        if (poll(&ready, 1, until > waited ? (int)(until - waited) : 0) > 0)
            return 0;
        waited = moment_monotonic_ms() - started;
        if (waited < until)
            continue;
        ps_member_describe(link->member, link->rank, name);
        if (rendezvous->stop && *rendezvous->stop)
            return err_set(err, ERR_CANCELED, "told to stop while waiting for an answer from %s",
                           name);
        if (waited >= link->timeout_ms)
            return err_set(err, ERR_TIMEOUT, "%s has not answered for %g s", name,
                           (double)link->timeout_ms / 1000);
        ps_member_report(link->member,
                         "waiting for %s for %lld s: it is connected, but does not answer", name,
                         (long long)waited / 1000);
        next_report = waited + rendezvous->report_ms;
    }
}

/* `count` is at most 3. */
static int link_raw_send(struct ps_link *link, const struct iovec *pieces, int count,
                         struct err *err)
{
    struct iovec left[3];
    memcpy(left, pieces, (size_t)count * sizeof(*left));
    if (link->fd < 0)
        return link_lost_error(link, ENOTCONN, err);
    for (int first = 0; first < count;) {
        struct msghdr message = {.msg_iov = left + first, .msg_iovlen = (size_t)(count - first)};
        ssize_t sent = sendmsg(link->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && errno != EAGAIN)
            return link_lost_error(link, errno, err);
        int result = sent < 0 ? link_wait_ready(link, POLLOUT, err) : 0;
        if (result < 0)
            return result;
        size_t done = sent < 0 ? 0 : (size_t)sent;
        while (first < count && done >= left[first].iov_len)
            done -= left[first++].iov_len;
        if (first < count) {
            left[first].iov_base = (char *)left[first].iov_base + done;
            left[first].iov_len -= done;
        }
    }
    return 0;
}

static int link_raw_recv(struct ps_link *link, void *data, size_t size, struct err *err)
{
    char *at = data;
    if (link->fd < 0)
        return link_lost_error(link, ENOTCONN, err);
    while (size) {
        ssize_t got = socket_recv(link->fd, at, size);
        if (got < 0 && got != -EAGAIN)
            return link_lost_error(link, (int)-got, err);
        int result = got < 0 ? link_wait_ready(link, POLLIN, err) : 0;
        if (result < 0)
            return result;
        at += got < 0 ? 0 : got;
        size -= got < 0 ? 0 : (size_t)got;
    }
    return 0;
}

static int link_raw_send_frame(struct ps_link *link, const struct ps_frame *frame, const void *body,
                               struct err *err)
{
    static const uint8_t PADDING[8];
    uint8_t head[PS_FRAME_HEAD_SIZE];
    ps_frame_encode(frame, head);
    const struct iovec pieces[3] = {
        {head, sizeof(head)},
        {(void *)body, frame->size},
        {(void *)PADDING, ps_frame_padded(frame->size) - frame->size},
    };
    return link_raw_send(link, pieces, 3, err);
}

/* Receives the body of PS_FRAME_REFUSED, whose head is `frame`. Returns 0 and sets *ret_refusal to
 * an error that names the server. */
static int link_raw_recv_refusal(struct ps_link *link, const struct ps_frame *frame,
                                 struct err *ret_refusal, struct err *err)
{
    char text[ERR_MESSAGE_MAX + 8], name[TF_CONFIG_TASK_TEXT_MAX];
    if (frame->size >= ERR_MESSAGE_MAX)
        return err_set(err, ERR_INTERNAL,
                       "a server sent an error message of %u bytes, but the limit is %d",
                       frame->size, ERR_MESSAGE_MAX - 1);
    int result = link_raw_recv(link, text, ps_frame_padded(frame->size), err);
    if (result < 0)
        return result;
    text[frame->size] = '\0';
    ps_member_describe(link->member, link->rank, name);
    bool known = frame->count > ERR_NONE && frame->count < ERR_CODES;
    (err_set)(ret_refusal, known ? (enum err_code)frame->count : ERR_INTERNAL, "%s: %s", name,
              text);
    return 0;
}

static int link_raw_recv_head(struct ps_link *link, struct ps_frame *ret, struct err *err)
{
    uint8_t head[PS_FRAME_HEAD_SIZE];
    int result = link_raw_recv(link, head, sizeof(head), err);
    if (result < 0 || (result = ps_frame_decode(head, ret, err)) < 0)
        return result;
    if (ret->type != PS_FRAME_DONE && ret->type != PS_FRAME_REFUSED)
        return err_set(err, ERR_INTERNAL, "a server answered with a message of unexpected type %d",
                       (int)ret->type);
    return 0;
}

/* Receives the rest of the answer to the oldest push, whose head is `frame`, and removes the push.
 * If the server refused the push, stores the error in link->failure and returns 0. */
static int link_raw_recv_applied(struct ps_link *link, const struct ps_frame *frame,
                                 struct err *err)
{
    struct err refusal = ERR_INIT;
    int result = 0;
    if (frame->type == PS_FRAME_REFUSED)
        result = link_raw_recv_refusal(link, frame, &refusal, err);
    else if (frame->size)
        result = err_set(err, ERR_INTERNAL, "a server answered a push with %u unexpected bytes",
                         frame->size);
    if (result < 0)
        return result;
    if (refusal.code && !link->failure.code)
        link->failure = refusal;
    link->oldest = (link->oldest + 1) % PS_LINK_WINDOW;
    link->in_flight--;
    return 0;
}

static int link_raw_complete_oldest(struct ps_link *link, struct err *err)
{
    struct ps_frame frame;
    int result = link_raw_recv_head(link, &frame, err);
    return result < 0 ? result : link_raw_recv_applied(link, &frame, err);
}

/* Sends the push at index `which` of the ring buffer, modulo its size. */
static int link_raw_send_push(struct ps_link *link, size_t which, struct err *err)
{
    const struct buf *push = &link->pushes[which % PS_LINK_WINDOW];
    const struct iovec piece = {push->data, push->size};
    return link_raw_send(link, &piece, 1, err);
}

int ps_link_exchange(struct ps_link *link, const struct ps_frame *frame, const void *body,
                     struct ps_frame *ret, struct err *err)
{
    int result = link_raw_send_frame(link, frame, body, err);
    if (result < 0 || (result = link_raw_recv_head(link, ret, err)) < 0)
        return result;
    if (ret->type == PS_FRAME_REFUSED) {
        struct err refusal = ERR_INIT;
        result = link_raw_recv_refusal(link, ret, &refusal, err);
        return result < 0 ? result : err_set(err, refusal.code, "%s", refusal.message);
    }
    return ret->size ? err_set(err, ERR_INTERNAL, "the answer of a server has %u unexpected bytes",
                               ret->size)
                     : 0;
}

/* ---- With reconnection */

/* Sends all pushes in flight and the pending request over the new connection. */
static int link_resend_unanswered(struct ps_link *link, struct err *err)
{
    int result = 0;
    for (size_t i = 0; i < link->in_flight && result == 0; i++)
        result = link_raw_send_push(link, link->oldest + i, err);
    if (result == 0 && link->request.type)
        result = link_raw_send_frame(link, &link->request, link->request_body, err);
    return result;
}

/* Handles the failure `cause` of a function with "raw" in its name. If `cause` is ERR_UNAVAILABLE,
 * waits up to `timeout_ms` for the server, opens its variables again, sends all that is unanswered
 * again, and returns 0. After any other failure the state of the connection is unknown: closes the
 * connection and fails with `cause`. The next call then connects again. */
static int link_recover(struct ps_link *link, struct err *cause, struct err *err)
{
    int64_t deadline = moment_monotonic_ms() + link->timeout_ms;
    for (;;) {
        link_close(link);
        if (cause->code != ERR_UNAVAILABLE)
            return err_set(err, cause->code, "%s", cause->message);
        ps_member_report(link->member, "%s; waiting for it to come back", cause->message);
        struct rendezvous_options again = link->member->rendezvous;
        again.timeout_ms = deadline - moment_monotonic_ms();
        if (again.timeout_ms < 1)
            again.timeout_ms = 1;
        int result = rendezvous_connect_some(&again, &link->rank, 1, &link->fd, err);
        if (result < 0)
            return result;
        err_clear(cause);
        if (link->reopen(link->context, link, cause) == 0 &&
            link_resend_unanswered(link, cause) == 0)
            return 0;
    }
}

/* If an earlier call left a request without an answer, forgets the request and closes the
 * connection, because the answer might still arrive. */
static void link_forget_request(struct ps_link *link)
{
    if (!link->request.type)
        return;
    link->request.type = 0;
    link_close(link);
}

/* Returns the error of a refused push, once. */
static int link_take_failure(struct ps_link *link, struct err *err)
{
    if (!link->failure.code)
        return 0;
    struct err failure = TAKE(link->failure);
    return err_set(err, failure.code, "%s", failure.message);
}

/* Waits until at most `most` pushes are in flight. */
static int link_limit_in_flight(struct ps_link *link, size_t most, struct err *err)
{
    link_forget_request(link);
    while (link->in_flight > most) {
        struct err cause = ERR_INIT;
        int result = link_raw_complete_oldest(link, &cause);
        if (result < 0 && (result = link_recover(link, &cause, err)) < 0)
            return result;
    }
    return link_take_failure(link, err);
}

int ps_link_flush(struct ps_link *link, struct err *err)
{
    return link_limit_in_flight(link, 0, err);
}

int ps_link_push_room(struct ps_link *link, const struct ps_frame *frame, uint8_t **ret_body,
                      struct err *err)
{
    int result = link_limit_in_flight(link, PS_LINK_WINDOW - 1, err);
    if (result < 0)
        return result;
    struct buf *push = &link->pushes[(link->oldest + link->in_flight) % PS_LINK_WINDOW];
    buf_clear(push);
    size_t size = PS_FRAME_HEAD_SIZE + ps_frame_padded(frame->size);
    uint8_t *room = (uint8_t *)buf_reserve(push, size);
    if (!room)
        return err_set(err, ERR_TOO_LARGE, "a push has %u bytes, but the limit is %d", frame->size,
                       PS_FRAME_MAX);
    struct ps_frame numbered = *frame;
    numbered.sequence = ++link->sequence;
    ps_frame_encode(&numbered, room);
    memset(room + size - 8, 0, 8); /* the padding */
    buf_commit(push, size);
    *ret_body = room + PS_FRAME_HEAD_SIZE;
    return 0;
}

/* After a loss, link_recover() sends all pushes in flight again, including this push. */
int ps_link_push_send(struct ps_link *link, struct err *err)
{
    struct err cause = ERR_INIT;
    link->in_flight++;
    int result = link_raw_send_push(link, link->oldest + link->in_flight - 1, &cause);
    return result < 0 ? link_recover(link, &cause, err) : 0;
}

int ps_link_ask(struct ps_link *link, const struct ps_frame *frame, const void *body,
                struct err *err)
{
    struct err cause = ERR_INIT;
    link_forget_request(link);
    link->request = *frame;
    link->request.sequence = ++link->sequence;
    link->request_body = body;
    int result = link_raw_send_frame(link, &link->request, body, &cause);
    if (result < 0 && (result = link_recover(link, &cause, err)) < 0)
        link->request.type = 0;
    return result;
}

/* Receives the answer to the pending request. Answers arrive in the order of the frames, so the
 * answers to earlier pushes come first. If the server refused the request, returns 0 and sets
 * *ret_refusal. */
static int link_raw_recv_answer(struct ps_link *link, struct ps_frame *ret, void *body,
                                int64_t size, struct err *ret_refusal, struct err *err)
{
    struct ps_frame frame;
    for (;;) {
        int result = link_raw_recv_head(link, &frame, err);
        if (result < 0)
            return result;
        if (frame.sequence == link->request.sequence)
            break;
        if (!link->in_flight)
            return err_set(err, ERR_INTERNAL, "a server sent an answer without a request");
        if ((result = link_raw_recv_applied(link, &frame, err)) < 0)
            return result;
    }
    *ret = frame;
    if (frame.type == PS_FRAME_REFUSED)
        return link_raw_recv_refusal(link, &frame, ret_refusal, err);
    if (size != PS_LINK_ANY && frame.size != (uint64_t)size)
        return err_set(err, ERR_INTERNAL, "the answer of a server has %u bytes instead of %lld",
                       frame.size, (long long)size);
    uint8_t padding[8];
    int result = link_raw_recv(link, body, frame.size, err);
    return result < 0 ? result
                      : link_raw_recv(link, padding, ps_frame_padded(frame.size) - frame.size, err);
}

int ps_link_answer(struct ps_link *link, struct ps_frame *ret, void *ret_body, int64_t size,
                   struct err *err)
{
    struct err refusal = ERR_INIT, cause = ERR_INIT;
    int result;
    while ((result = link_raw_recv_answer(link, ret, ret_body, size, &refusal, &cause)) < 0) {
        result = link_recover(link, &cause, err);
        if (result < 0)
            break;
    }
    link->request.type = 0;
    if (result == 0 && refusal.code)
        result = err_set(err, refusal.code, "%s", refusal.message);
    return result < 0 ? result : link_take_failure(link, err);
}

int ps_link_request(struct ps_link *link, const struct ps_frame *frame, const void *body,
                    struct ps_frame *ret, struct err *err)
{
    int result = ps_link_ask(link, frame, body, err);
    return result < 0 ? result : ps_link_answer(link, ret, NULL, 0, err);
}
