/* Accepts connections of the HTTP server and limits their number; see server.h. connection.c
 * handles each connection. */
#include "net/http/server.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "net/http/connection.h"
#include "net/stream/socket_stream.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <uv.h>

enum {
    BODY_MAX = 3 * 1024 * 1024,
    HEADER_MAX = 64 * 1024,
    CONNECTIONS_MAX = 4096,
    HANDSHAKE_TIMEOUT_MS = 10 * 1000,
    HEADER_TIMEOUT_MS = 15 * 1000,
    BODY_TIMEOUT_MS = 60 * 1000,
    IDLE_TIMEOUT_MS = 180 * 1000,
    SILENCE_TIMEOUT_MS = 30 * 1000,
    ACCEPTS_PER_TURN = 64,
    RETRY_MS = 100, /* delay before the next accept() after descriptors ran out */
    BACKLOG = 1024,
    PEER_MAX = INET6_ADDRSTRLEN + 16,
};

struct http_server {
    struct http_service service;
    struct budget_group memory; /* used if the caller passed no budget */
    int listen_fd;
    uv_poll_t poll;
    struct loop_timer retry;
    struct tls_server *tls;
    size_t connections_max;
    int64_t silence_timeout_ms;
    bool poll_open, closing;
    void (*closed)(void *context);
    void *closed_context;
};

/* ---- accepting ------------------------------------------------------------------------------- */

static void format_peer(const struct sockaddr_storage *address, char peer[PEER_MAX])
{
    char host[INET6_ADDRSTRLEN] = "";
    if (address->ss_family == AF_INET) {
        const struct sockaddr_in *in = (const void *)address;
        inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
        snprintf(peer, PEER_MAX, "%s:%d", host, ntohs(in->sin_port));
    } else if (address->ss_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const void *)address;
        inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof(host));
        snprintf(peer, PEER_MAX, "[%s]:%d", host, ntohs(in6->sin6_port));
    } else {
        snprintf(peer, PEER_MAX, "unknown");
    }
}

/* Enables TCP keepalive. If the machine of a peer is cut off from the network, the server gets no
 * FIN, and an idle watch of this peer would stay open forever. So the kernel probes silent
 * connections three times, first after half of the timeout, and ends a connection that does not
 * answer at the timeout. TCP_USER_TIMEOUT is not used, because it would also end a connection whose
 * peer does not read for a while, such as a forwarded program in a debugger. The stall timeout of
 * the stream covers unsent bytes. */
static void enable_keepalive(int fd, int64_t silence_timeout_ms)
{
    enum { PROBES = 3 };
    int seconds = (int)(silence_timeout_ms / 1000);
    int on = 1, probes = PROBES, idle = seconds / 2 > 1 ? seconds / 2 : 1;
    int interval = seconds / (2 * PROBES) > 1 ? seconds / (2 * PROBES) : 1;
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
}

static void take_connection(struct http_server *server, int fd,
                            const struct sockaddr_storage *address)
{
    /* Close a silent connection if needed, so that silent connections do not block new clients. */
    if (server->service.connection_count >= server->connections_max &&
        !http_service_drop_waiting(&server->service)) {
        close(fd);
        return;
    }
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    enable_keepalive(fd, server->silence_timeout_ms);
    struct stream *stream;
    if (socket_stream_new(server->service.loop, fd, server->tls, server->service.body_timeout_ms,
                          &stream, NULL) < 0)
        return;
    char peer[PEER_MAX];
    format_peer(address, peer);
    http_connection_new(&server->service, stream, peer);
}

static void on_listen(uv_poll_t *poll, int status, int events)
{
    struct http_server *server = CONTAINER_OF(poll, struct http_server, poll);
    for (int i = 0; i < ACCEPTS_PER_TURN; i++) {
        struct sockaddr_storage address = {0};
        socklen_t size = sizeof(address);
        int fd = accept4(server->listen_fd, (struct sockaddr *)&address, &size,
                         SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            take_connection(server, fd, &address);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
            /* The connection stays in the backlog and the socket stays readable, so polling again
             * at once would be a busy loop. */
            uv_poll_stop(poll);
            loop_timer_start(&server->retry, RETRY_MS);
            return;
        } else if (errno == EAGAIN) {
            return;
        } /* else the peer closed the connection before accept() */
    }
}

static void on_accept_retry(struct loop_timer *timer)
{
    struct http_server *server = CONTAINER_OF(timer, struct http_server, retry);
    uv_poll_start(&server->poll, UV_READABLE, on_listen);
}

/* ---- start and close of the server ----------------------------------------------------------- */

static void free_if_closed(struct http_server *server)
{
    if (!server->closing || server->poll_open || server->service.connection_count)
        return;
    void (*closed)(void *context) = server->closed;
    void *context = server->closed_context;
    budget_group_release(&server->memory);
    free(server);
    if (closed)
        closed(context);
}

static void on_connection_closed(struct http_service *service)
{
    free_if_closed(CONTAINER_OF(service, struct http_server, service));
}

static void on_server_poll_closed(uv_handle_t *handle)
{
    struct http_server *server = CONTAINER_OF(handle, struct http_server, poll);
    server->poll_open = false;
    free_if_closed(server);
}

void http_server_close(struct http_server *server, void (*closed)(void *context), void *context)
{
    server->closing = true;
    server->closed = closed;
    server->closed_context = context;
    loop_timer_stop(&server->retry);
    uv_close((uv_handle_t *)&server->poll, on_server_poll_closed);
    close(server->listen_fd);
    /* The connections are freed and removed from the list later. */
    LIST_EACH_SAFE (struct http_connection, each, &server->service.connections, link)
        http_connection_close(each);
}

static int64_t or_default(int64_t value, int64_t fallback)
{
    return value > 0 ? value : fallback;
}

int http_server_new(struct loop *loop, const struct http_server_options *options,
                    http_handler *handler, void *context, struct http_server **ret, struct err *err)
{
    if (!loop_uv(loop))
        return err_set(err, ERR_UNSUPPORTED, "an HTTP server needs sockets, not a simulation");
    if (options->header_max > HEADER_MAX)
        return err_set(err, ERR_INVALID, "the header limit is %zu bytes, but the maximum is %d",
                       options->header_max, HEADER_MAX);
    struct http_server *server = mem_zalloc(sizeof(*server));
    int result = uv_poll_init(loop_uv(loop), &server->poll, options->listen_fd);
    if (result < 0) {
        free(server);
        return err_set_errno(err, -result, "cannot watch the listening socket");
    }
    server->service = (struct http_service){
        .loop = loop,
        .handler = handler,
        .admit = options->admit,
        .context = context,
        .header_max = options->header_max ? options->header_max : HEADER_MAX,
        .write_refusal = options->write_refusal,
        .body_max = options->body_max ? options->body_max : BODY_MAX,
        .memory = options->memory ? options->memory : &server->memory,
        .handshake_timeout_ms = or_default(options->handshake_timeout_ms, HANDSHAKE_TIMEOUT_MS),
        .header_timeout_ms = or_default(options->header_timeout_ms, HEADER_TIMEOUT_MS),
        .body_timeout_ms = or_default(options->body_timeout_ms, BODY_TIMEOUT_MS),
        .idle_timeout_ms = or_default(options->idle_timeout_ms, IDLE_TIMEOUT_MS),
        .on_closed = on_connection_closed,
        .date_second = -1,
    };
    budget_group_init(&server->memory, HTTP_MEMORY_MAX, HTTP_MEMORY_MAX / 2);
    server->listen_fd = options->listen_fd;
    server->tls = options->tls;
    server->connections_max = options->connections_max ? options->connections_max : CONNECTIONS_MAX;
    server->silence_timeout_ms = or_default(options->silence_timeout_ms, SILENCE_TIMEOUT_MS);
    server->poll_open = true;
    loop_timer_init(loop, &server->retry, on_accept_retry);
    uv_poll_start(&server->poll, UV_READABLE, on_listen);
    *ret = server;
    return 0;
}

/* ---- listening ------------------------------------------------------------------------------- */

int http_listen(const char *address, int port, int *ret_fd, int *ret_port, struct err *err)
{
    struct sockaddr_storage storage = {0};
    socklen_t size;
    struct sockaddr_in *in = (void *)&storage;
    struct sockaddr_in6 *in6 = (void *)&storage;
    if (port < 0 || port > 65535)
        return err_set(err, ERR_INVALID, "port %d: must be 0 to 65535", port);
    if (inet_pton(AF_INET, address, &in->sin_addr) == 1) {
        in->sin_family = AF_INET;
        in->sin_port = htons((uint16_t)port);
        size = sizeof(*in);
    } else if (inet_pton(AF_INET6, address, &in6->sin6_addr) == 1) {
        in6->sin6_family = AF_INET6;
        in6->sin6_port = htons((uint16_t)port);
        size = sizeof(*in6);
    } else {
        return err_set(err, ERR_INVALID, "'%s' is not an IP address to listen on", address);
    }
    _cleanup_(cleanup_fd) int fd =
        socket(storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int on = 1, off = 0;
    if (fd < 0)
        return err_set_errno(err, errno, "cannot make a socket");
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (storage.ss_family == AF_INET6) /* "::" accepts IPv4 too, on every machine */
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    if (bind(fd, (struct sockaddr *)&storage, size) < 0 || listen(fd, BACKLOG) < 0 ||
        getsockname(fd, (struct sockaddr *)&storage, &size) < 0)
        return err_set_errno(err, errno, "cannot listen on %s port %d", address, port);
    if (ret_port)
        *ret_port = ntohs(storage.ss_family == AF_INET ? in->sin_port : in6->sin6_port);
    *ret_fd = TAKE_FD(fd);
    return 0;
}
