/* Serves DNS clients over TCP. Each query and each answer is preceded by its length. */
#include "node/names/responder_internal.h"

#include "base/buf.h"
#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    LINES_MAX = 128,
    IDLE_MS = 10 * 1000,
    WAITING_MAX = 32, /* forwarded queries per connection */
    /* Bytes of answers that the client has not read. Above this limit the connection is closed. */
    ANSWERS_MAX = 4 * DNS_TCP_MAX,
    ACCEPT_RETRY_MS = 100, /* pause after descriptors or memory were exhausted */
};

struct responder_line {
    struct epoll_watch watch;
    struct list_link link;
    struct responder *responder;
    int fd; /* -1 if closed; epoll may still report events for it */
    struct buf in, out;
    int waiting;
    bool ended; /* the client has sent all its queries */
    int64_t deadline_ms;
};

static void line_end(struct responder_line *line)
{
    struct responder *responder = line->responder;
    if (line->fd < 0)
        return;
    epoll_watch_unset(responder->epoll_fd, line->fd, &line->watch);
    close(line->fd);
    line->fd = -1;
    responder_forwards_forget(responder, line);
    list_remove(&line->link);
    list_append(&responder->dead_lines, &line->link);
    responder->line_count--;
}

/* Sends as many bytes as possible. Then closes the connection if it is complete, or sets the events
 * to wait for. */
static void line_flush(struct responder_line *line)
{
    while (line->out.size) {
        ssize_t sent = send(line->fd, line->out.data, line->out.size, MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN && errno != EINTR) {
            line_end(line);
            return;
        }
        if (sent < 0)
            break;
        buf_consume(&line->out, (size_t)sent);
    }
    if (line->ended && line->out.size == 0 && line->waiting == 0)
        line_end(line);
    else
        epoll_watch_set(line->responder->epoll_fd, line->fd, &line->watch,
                        (line->ended ? 0U : EPOLLIN) | (line->out.size ? EPOLLOUT : 0U));
}

void responder_line_say(struct responder_line *line, const void *data, size_t size)
{
    const uint8_t prefix[RESPONDER_PREFIX] = {(uint8_t)(size >> 8), (uint8_t)size};
    if (line->fd < 0)
        return;
    buf_append(&line->out, prefix, sizeof(prefix));
    buf_append(&line->out, data, size);
    if (line->out.overflowed)
        line_end(line);
    else
        line_flush(line);
}

bool responder_line_wait(struct responder_line *line)
{
    if (line->waiting == WAITING_MAX)
        return false;
    line->waiting++;
    return true;
}

void responder_line_done(struct responder_line *line)
{
    line->waiting--;
    if (line->fd >= 0)
        line_flush(line);
}

static void keep_alive(struct responder_line *line)
{
    struct responder *responder = line->responder;
    line->deadline_ms = responder_now_ms(responder) + IDLE_MS;
    list_remove(&line->link);
    list_append(&responder->lines, &line->link);
}

/* Answers the complete queries. A message longer than RESPONDER_QUERY_MAX closes the connection. */
static void take_queries(struct responder_line *line)
{
    const struct responder_asker asker = {.line = line, .over_tcp = true};
    size_t used = 0;
    while (line->fd >= 0 && line->in.size - used >= RESPONDER_PREFIX) {
        const uint8_t *prefix = (const uint8_t *)line->in.data + used;
        size_t size = (size_t)prefix[0] << 8 | prefix[1];
        if (size > RESPONDER_QUERY_MAX) {
            line_end(line);
            return;
        }
        if (line->in.size - used - RESPONDER_PREFIX < size)
            break;
        keep_alive(line);
        responder_take(line->responder, &asker, prefix + RESPONDER_PREFIX, size);
        used += RESPONDER_PREFIX + size;
    }
    buf_consume(&line->in, used);
}

static void on_line(struct epoll_watch *watch, uint32_t events)
{
    struct responder_line *line = CONTAINER_OF(watch, struct responder_line, watch);
    char piece[RESPONDER_QUERY_MAX];
    if (line->fd < 0)
        return;
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR) && !line->ended) {
        ssize_t got = recv(line->fd, piece, sizeof(piece), 0);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        line->ended = got <= 0;
        if (got > 0) {
            buf_append(&line->in, piece, (size_t)got);
            take_queries(line);
        }
    } else if (events & (EPOLLHUP | EPOLLERR)) {
        line_end(line);
    }
    if (line->fd >= 0)
        line_flush(line);
}

static void line_new(struct responder *responder, int fd)
{
    struct responder_line *line = mem_zalloc(sizeof(*line));
    line->watch.on_event = on_line;
    line->responder = responder;
    line->fd = fd;
    buf_init(&line->in, 4L * RESPONDER_QUERY_MAX);
    buf_init(&line->out, ANSWERS_MAX);
    line->deadline_ms = responder_now_ms(responder) + IDLE_MS;
    list_append(&responder->lines, &line->link);
    responder->line_count++;
    if (!epoll_watch_set(responder->epoll_fd, fd, &line->watch, EPOLLIN))
        line_end(line);
}

void responder_accept(struct epoll_watch *watch, uint32_t events)
{
    struct responder *responder = CONTAINER_OF(watch, struct responder, tcp);
    (void)events;
    int fd = accept4(responder->options.tcp_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0 && responder->line_count < LINES_MAX) {
        line_new(responder, fd);
    } else if (fd >= 0) {
        close(fd);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
        /* Pauses, because epoll would report the same connection again and again. */
        epoll_watch_set(responder->epoll_fd, responder->options.tcp_fd, &responder->tcp, 0);
        responder->accept_ms = responder_now_ms(responder) + ACCEPT_RETRY_MS;
    }
}

void responder_lines_expire(struct responder *responder, int64_t now_ms)
{
    if (responder->accept_ms && responder->accept_ms <= now_ms) {
        responder->accept_ms = 0;
        epoll_watch_set(responder->epoll_fd, responder->options.tcp_fd, &responder->tcp, EPOLLIN);
    }
    while (responder_lines_deadline(responder) && responder_lines_deadline(responder) <= now_ms)
        line_end(LIST_FIRST(&responder->lines, struct responder_line, link));
}

int64_t responder_lines_deadline(const struct responder *responder)
{
    const struct responder_line *first = LIST_FIRST(&responder->lines, struct responder_line, link);
    return first ? first->deadline_ms : 0;
}

void responder_lines_bury(struct responder *responder)
{
    LIST_EACH_SAFE (struct responder_line, line, &responder->dead_lines, link) {
        buf_release(&line->in);
        buf_release(&line->out);
        free(line);
    }
    list_init(&responder->dead_lines);
}

void responder_lines_end(struct responder *responder)
{
    while (!list_is_empty(&responder->lines))
        line_end(LIST_FIRST(&responder->lines, struct responder_line, link));
    responder_lines_bury(responder);
}
