/* Serves DNS clients over TCP; see names/responder_internal.h. Each query and each answer follows
 * a prefix with its length. */
#include "node/names/responder_internal.h"

#include "base/buf.h"
#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    CONNECTIONS_MAX = 128,
    IDLE_MS = 10 * 1000, /* a connection without a query for this time is closed */
    WAITING_MAX = 32,    /* forwarded queries per connection */
    /* Bytes of answers that the client has not read. Above this limit the connection is closed. */
    ANSWERS_MAX = 4 * DNS_TCP_MAX,
    ACCEPT_RETRY_MS = 100, /* pause after descriptors or memory were exhausted */
};

struct responder_connection {
    struct epoll_watch watch;
    struct list_link link;
    struct responder *responder;
    int fd;         /* -1 if closed; epoll may still report events for it */
    struct buf in;  /* received bytes that are no complete query yet */
    struct buf out; /* answers that the client has not read */
    int waiting;    /* forwarded queries that are not answered yet */
    bool ended;     /* the client has sent all its queries */
    int64_t deadline_ms;
};

/* Closes the connection. It is freed later. */
static void responder_connection_close(struct responder_connection *connection)
{
    struct responder *responder = connection->responder;
    if (connection->fd < 0)
        return;
    epoll_watch_unset(responder->epoll_fd, connection->fd, &connection->watch);
    close(connection->fd);
    connection->fd = -1;
    responder_forwards_drop(responder, connection);
    list_remove(&connection->link);
    list_append(&responder->closed_connections, &connection->link);
    responder->connection_count--;
}

/* Sends as many bytes as possible. Then closes the connection if the client has sent and got
 * everything, or sets the events to wait for. */
static void responder_connection_flush(struct responder_connection *connection)
{
    while (connection->out.size) {
        ssize_t sent =
            send(connection->fd, connection->out.data, connection->out.size, MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN && errno != EINTR) {
            responder_connection_close(connection);
            return;
        }
        if (sent < 0)
            break;
        buf_consume(&connection->out, (size_t)sent);
    }
    if (connection->ended && connection->out.size == 0 && connection->waiting == 0)
        responder_connection_close(connection);
    else
        epoll_watch_set(connection->responder->epoll_fd, connection->fd, &connection->watch,
                        (connection->ended ? 0U : EPOLLIN) |
                            (connection->out.size ? EPOLLOUT : 0U));
}

void responder_connection_send(struct responder_connection *connection, const void *data,
                               size_t size)
{
    const uint8_t prefix[RESPONDER_PREFIX] = {(uint8_t)(size >> 8), (uint8_t)size};
    if (connection->fd < 0)
        return;
    buf_append(&connection->out, prefix, sizeof(prefix));
    buf_append(&connection->out, data, size);
    if (connection->out.overflowed)
        responder_connection_close(connection);
    else
        responder_connection_flush(connection);
}

bool responder_connection_begin_wait(struct responder_connection *connection)
{
    if (connection->waiting == WAITING_MAX)
        return false;
    connection->waiting++;
    return true;
}

void responder_connection_end_wait(struct responder_connection *connection)
{
    connection->waiting--;
    if (connection->fd >= 0)
        responder_connection_flush(connection);
}

/* Starts the idle time again. */
static void responder_connection_renew(struct responder_connection *connection)
{
    struct responder *responder = connection->responder;
    connection->deadline_ms = responder_now_ms(responder) + IDLE_MS;
    list_remove(&connection->link);
    list_append(&responder->connections, &connection->link);
}

/* Handles the complete queries. A message longer than RESPONDER_QUERY_MAX closes the connection. */
static void responder_connection_handle_queries(struct responder_connection *connection)
{
    const struct responder_client client = {.connection = connection, .over_tcp = true};
    size_t used = 0;
    while (connection->fd >= 0 && connection->in.size - used >= RESPONDER_PREFIX) {
        const uint8_t *prefix = (const uint8_t *)connection->in.data + used;
        size_t size = (size_t)prefix[0] << 8 | prefix[1];
        if (size > RESPONDER_QUERY_MAX) {
            responder_connection_close(connection);
            return;
        }
        if (connection->in.size - used - RESPONDER_PREFIX < size)
            break;
        responder_connection_renew(connection);
        responder_handle(connection->responder, &client, prefix + RESPONDER_PREFIX, size);
        used += RESPONDER_PREFIX + size;
    }
    buf_consume(&connection->in, used);
}

static void on_responder_connection(struct epoll_watch *watch, uint32_t events)
{
    struct responder_connection *connection =
        CONTAINER_OF(watch, struct responder_connection, watch);
    char piece[RESPONDER_QUERY_MAX];
    if (connection->fd < 0)
        return;
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR) && !connection->ended) {
        ssize_t got = recv(connection->fd, piece, sizeof(piece), 0);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        connection->ended = got <= 0;
        if (got > 0) {
            buf_append(&connection->in, piece, (size_t)got);
            responder_connection_handle_queries(connection);
        }
    } else if (events & (EPOLLHUP | EPOLLERR)) {
        responder_connection_close(connection);
    }
    if (connection->fd >= 0)
        responder_connection_flush(connection);
}

static void responder_connection_new(struct responder *responder, int fd)
{
    struct responder_connection *connection = mem_zalloc(sizeof(*connection));
    connection->watch.on_event = on_responder_connection;
    connection->responder = responder;
    connection->fd = fd;
    buf_init(&connection->in, 4L * RESPONDER_QUERY_MAX);
    buf_init(&connection->out, ANSWERS_MAX);
    connection->deadline_ms = responder_now_ms(responder) + IDLE_MS;
    list_append(&responder->connections, &connection->link);
    responder->connection_count++;
    if (!epoll_watch_set(responder->epoll_fd, fd, &connection->watch, EPOLLIN))
        responder_connection_close(connection);
}

void responder_accept(struct epoll_watch *watch, uint32_t events)
{
    struct responder *responder = CONTAINER_OF(watch, struct responder, tcp);
    (void)events;
    int fd = accept4(responder->options.tcp_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0 && responder->connection_count < CONNECTIONS_MAX) {
        responder_connection_new(responder, fd);
    } else if (fd >= 0) {
        close(fd);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
        /* Accepting pauses, because epoll would report the same connection again and again. */
        epoll_watch_set(responder->epoll_fd, responder->options.tcp_fd, &responder->tcp, 0);
        responder->accept_ms = responder_now_ms(responder) + ACCEPT_RETRY_MS;
    }
}

void responder_connections_expire(struct responder *responder, int64_t now_ms)
{
    if (responder->accept_ms && responder->accept_ms <= now_ms) {
        responder->accept_ms = 0;
        epoll_watch_set(responder->epoll_fd, responder->options.tcp_fd, &responder->tcp, EPOLLIN);
    }
    while (responder_connections_deadline(responder) &&
           responder_connections_deadline(responder) <= now_ms)
        responder_connection_close(
            LIST_FIRST(&responder->connections, struct responder_connection, link));
}

int64_t responder_connections_deadline(const struct responder *responder)
{
    const struct responder_connection *first =
        LIST_FIRST(&responder->connections, struct responder_connection, link);
    return first ? first->deadline_ms : 0;
}

void responder_connections_free_closed(struct responder *responder)
{
    LIST_EACH_SAFE (struct responder_connection, connection, &responder->closed_connections, link) {
        buf_release(&connection->in);
        buf_release(&connection->out);
        free(connection);
    }
    list_init(&responder->closed_connections);
}

void responder_connections_end(struct responder *responder)
{
    while (!list_is_empty(&responder->connections))
        responder_connection_close(
            LIST_FIRST(&responder->connections, struct responder_connection, link));
    responder_connections_free_closed(responder);
}
