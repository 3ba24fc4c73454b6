/* The DNS responder's sockets; see dns_server.h. What is said on them is dns_message.c's. */
#include "net/dns_server.h"

#include "base/buf.h"
#include "base/list.h"
#include "base/mem.h"
#include "net/dns_message.h"
#include "net/socket_stream.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

enum {
    PACKETS_A_TURN = 64,
    CONNECTIONS_MAX = 128,
    CONNECTION_TIMEOUT_MS = 10 * 1000,
    PREFIX_SIZE = 2,               /* over TCP: the length before a message */
    QUERY_MAX = 4096,              /* over TCP; a query is a name and an OPT record */
    ANSWERS_MAX = 4 * DNS_TCP_MAX, /* unread by the peer, then it is left alone */
    RETRY_MS = 100,
};

struct dns_server {
    struct loop *loop;
    dns_lookup *lookup;
    void *context;
    int udp_fd, tcp_fd;
    uv_poll_t udp_poll, tcp_poll;
    struct loop_timer retry; /* after the system ran out of descriptors */
    struct connection *connections;
    size_t connection_count;
    size_t open; /* handles and connections that are not gone yet */
};

/* Queries over TCP: each with its length before it. */
struct connection {
    struct dns_server *server;
    struct connection *next, **link;
    struct stream *stream;
    struct loop_timer timer;
    struct buf in;
};

static void release(struct dns_server *server)
{
    if (--server->open == 0)
        free(server);
}

/* ---- UDP ------------------------------------------------------------------------------------- */

static void on_udp(uv_poll_t *poll, int status, int events)
{
    struct dns_server *server = CONTAINER_OF(poll, struct dns_server, udp_poll);
    for (int i = 0; i < PACKETS_A_TURN; i++) {
        uint8_t query[DNS_UDP_MAX], answer[DNS_UDP_MAX];
        struct sockaddr_storage peer;
        socklen_t peer_size = sizeof(peer);
        ssize_t size =
            recvfrom(server->udp_fd, query, sizeof(query), 0, (struct sockaddr *)&peer, &peer_size);
        if (size < 0) /* nothing left, or the news that an earlier answer found nobody */
            return;
        size_t answer_size =
            dns_answer(query, (size_t)size, answer, dns_udp_answer_max(query, (size_t)size),
                       server->lookup, server->context);
        /* An answer that cannot be sent is one that got lost: the asker asks again. */
        if (answer_size)
            (void)!sendto(server->udp_fd, answer, answer_size, MSG_NOSIGNAL,
                          (struct sockaddr *)&peer, peer_size);
    }
}

/* ---- TCP ------------------------------------------------------------------------------------- */

static void answer_query(struct connection *connection, const char *query, size_t size)
{
    struct dns_server *server = connection->server;
    char *answer = mem_alloc(DNS_TCP_MAX);
    size_t answer_size =
        dns_answer(query, size, answer, DNS_TCP_MAX, server->lookup, server->context);
    if (answer_size) {
        uint8_t prefix[PREFIX_SIZE] = {(uint8_t)(answer_size >> 8), (uint8_t)answer_size};
        stream_write(connection->stream, prefix, sizeof(prefix));
        stream_write(connection->stream, answer, answer_size);
    }
    free(answer);
}

/* Answer the queries that are whole; false: one of them is longer than a query is. */
static bool take_queries(struct connection *connection)
{
    struct buf *in = &connection->in;
    size_t used = 0, size = 0;
    while (in->size - used >= PREFIX_SIZE) {
        const uint8_t *prefix = (const uint8_t *)in->data + used;
        size = (size_t)prefix[0] << 8 | prefix[1];
        if (size > QUERY_MAX || in->size - used - PREFIX_SIZE < size)
            break;
        answer_query(connection, in->data + used + PREFIX_SIZE, size);
        loop_timer_start(&connection->timer, CONNECTION_TIMEOUT_MS);
        used += PREFIX_SIZE + size;
    }
    buf_consume(in, used);
    return size <= QUERY_MAX;
}

static void on_data(void *context, const char *data, size_t size)
{
    struct connection *connection = context;
    buf_append(&connection->in, data, size);
    if (connection->in.overflowed || !take_queries(connection) ||
        stream_pending(connection->stream) > ANSWERS_MAX)
        stream_close(connection->stream);
}

static void on_open(void *context)
{
}

static void on_sent(void *context)
{
}

static void on_end(void *context, const struct err *err)
{
    struct connection *connection = context;
    if (err)
        stream_close(connection->stream);
    else
        stream_finish(connection->stream);
}

static void on_closed(void *context)
{
    struct connection *connection = context;
    struct dns_server *server = connection->server;
    loop_timer_stop(&connection->timer);
    list_remove(connection);
    server->connection_count--;
    buf_release(&connection->in);
    free(connection);
    release(server);
}

static const struct stream_handler HANDLER = {
    .on_open = on_open,
    .on_data = on_data,
    .on_sent = on_sent,
    .on_end = on_end,
    .on_closed = on_closed,
};

static void on_timer(struct loop_timer *timer)
{
    struct connection *connection = CONTAINER_OF(timer, struct connection, timer);
    stream_close(connection->stream);
}

static void take_connection(struct dns_server *server, int fd)
{
    struct stream *stream;
    if (server->connection_count >= CONNECTIONS_MAX) {
        close(fd);
        return;
    }
    if (socket_stream_new(server->loop, fd, NULL, CONNECTION_TIMEOUT_MS, &stream, NULL) < 0)
        return;
    struct connection *connection = mem_zalloc(sizeof(*connection));
    connection->server = server;
    connection->stream = stream;
    buf_init(&connection->in, 64 * 1024); /* more than a stream gives at once */
    list_push(&server->connections, connection);
    server->connection_count++;
    server->open++;
    loop_timer_init(server->loop, &connection->timer, on_timer);
    loop_timer_start(&connection->timer, CONNECTION_TIMEOUT_MS);
    stream_start(stream, &HANDLER, connection);
}

static void on_tcp(uv_poll_t *poll, int status, int events)
{
    struct dns_server *server = CONTAINER_OF(poll, struct dns_server, tcp_poll);
    int fd = accept4(server->tcp_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
        take_connection(server, fd);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
        uv_poll_stop(poll); /* it would be reported again and again */
        loop_timer_start(&server->retry, RETRY_MS);
    }
}

static void on_retry(struct loop_timer *timer)
{
    struct dns_server *server = CONTAINER_OF(timer, struct dns_server, retry);
    uv_poll_start(&server->tcp_poll, UV_READABLE, on_tcp);
}

/* ---- the server's life ----------------------------------------------------------------------- */

static void on_udp_closed(uv_handle_t *handle)
{
    release(CONTAINER_OF(handle, struct dns_server, udp_poll));
}

static void on_tcp_closed(uv_handle_t *handle)
{
    release(CONTAINER_OF(handle, struct dns_server, tcp_poll));
}

void dns_server_close(struct dns_server *server)
{
    struct connection *next;
    for (struct connection *each = server->connections; each; each = next) {
        next = each->next; /* they leave the list in later turns */
        loop_timer_stop(&each->timer);
        stream_close(each->stream);
    }
    loop_timer_stop(&server->retry);
    uv_close((uv_handle_t *)&server->udp_poll, on_udp_closed);
    close(server->udp_fd);
    if (server->tcp_fd >= 0) {
        uv_close((uv_handle_t *)&server->tcp_poll, on_tcp_closed);
        close(server->tcp_fd);
    }
}

int dns_server_new(struct loop *loop, int udp_fd, int tcp_fd, dns_lookup *lookup, void *context,
                   struct dns_server **ret, struct err *err)
{
    if (!loop_uv(loop))
        return err_set(err, ERR_UNSUPPORTED, "a DNS server needs sockets, not a simulation");
    struct dns_server *server = mem_zalloc(sizeof(*server));
    int status = uv_poll_init(loop_uv(loop), &server->udp_poll, udp_fd);
    if (status < 0) {
        free(server);
        return err_set_errno(err, -status, "cannot watch the socket for DNS over UDP");
    }
    server->open = 1;
    server->loop = loop;
    server->lookup = lookup;
    server->context = context;
    server->udp_fd = udp_fd;
    server->tcp_fd = tcp_fd;
    loop_timer_init(loop, &server->retry, on_retry);
    status = tcp_fd >= 0 ? uv_poll_init(loop_uv(loop), &server->tcp_poll, tcp_fd) : 0;
    if (status < 0) {
        uv_close((uv_handle_t *)&server->udp_poll, on_udp_closed);
        return err_set_errno(err, -status, "cannot watch the socket for DNS over TCP");
    }
    if (tcp_fd >= 0) {
        server->open++;
        uv_poll_start(&server->tcp_poll, UV_READABLE, on_tcp);
    }
    uv_poll_start(&server->udp_poll, UV_READABLE, on_udp);
    *ret = server;
    return 0;
}
