/* Implements TCP sockets for the members of a group; see socket.h. */
#include "comm/transport/socket.h"

#include "base/cleanup.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A machine that acknowledges nothing for 10 seconds counts as lost. Probes start after one idle
 * second and repeat every second. */
enum { KEEP_ALIVE_PROBES = 10, UNACKNOWLEDGED_MS = 10000 };

static void socket_set_option(int fd, int level, int name, int value)
{
    /* These options only affect speed and how soon a loss is detected, so a failure is ignored. */
    (void)setsockopt(fd, level, name, &value, sizeof(value));
}

static void socket_tune(int fd)
{
    socket_set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    socket_set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    socket_set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 1);
    socket_set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 1);
    socket_set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEP_ALIVE_PROBES);
}

void socket_limit_silence(int fd)
{
    socket_set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, UNACKNOWLEDGED_MS);
}

union address {
    struct sockaddr any;
    struct sockaddr_in ipv4;
    struct sockaddr_in6 ipv6;
};

/* Whether both ends of the connection have the same IP address. */
static bool socket_is_local(int fd)
{
    union address own = {.ipv6 = {0}}, peer = {.ipv6 = {0}};
    socklen_t own_size = sizeof(own), peer_size = sizeof(peer);
    if (getsockname(fd, &own.any, &own_size) < 0 || getpeername(fd, &peer.any, &peer_size) < 0 ||
        own.any.sa_family != peer.any.sa_family)
        return false;
    if (own.any.sa_family == AF_INET)
        return own.ipv4.sin_addr.s_addr == peer.ipv4.sin_addr.s_addr;
    return own.any.sa_family == AF_INET6 &&
           memcmp(&own.ipv6.sin6_addr, &peer.ipv6.sin6_addr, sizeof(own.ipv6.sin6_addr)) == 0;
}

void socket_do_not_pace_local(int fd)
{
    /* The default congestion control of a machine may be BBR, which paces packets with timers. On
     * connections within one machine pacing is useless: in a measurement the timers took an eighth
     * of the time of a 25 MiB all-reduce. Reno does not pace, and every kernel lets every process
     * select it. */
    static const char PLAIN[] = "reno";
    if (socket_is_local(fd))
        (void)setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, PLAIN, sizeof(PLAIN) - 1);
}

int socket_listen(int port, bool ipv6, int backlog, int *ret_fd, struct err *err)
{
    const struct sockaddr_in any4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    const struct sockaddr_in6 any6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
    const void *address = ipv6 ? (const void *)&any6 : (const void *)&any4;
    socklen_t size = ipv6 ? sizeof(any6) : sizeof(any4);
    _cleanup_fd_ int fd =
        socket(ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return err_set_errno(err, errno, "cannot make a socket");
    socket_set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    if (bind(fd, address, size) < 0 || listen(fd, backlog) < 0) {
        int errnum = errno;
        if (errnum == EADDRINUSE)
            return err_set(err, ERR_UNAVAILABLE,
                           "cannot listen on port %d: another process on this machine uses it; "
                           "give each task its own port",
                           port);
        return err_set_errno(err, errnum, "cannot listen on port %d", port);
    }
    *ret_fd = TAKE_FD(fd);
    return 0;
}

int socket_local_port(int fd)
{
    union address address = {.ipv6 = {0}};
    socklen_t size = sizeof(address);
    if (getsockname(fd, &address.any, &size) < 0)
        return 0;
    return ntohs(address.any.sa_family == AF_INET ? address.ipv4.sin_port : address.ipv6.sin6_port);
}

int socket_accept(int listener, char from[SOCKET_ADDRESS_TEXT_MAX])
{
    struct sockaddr_storage address;
    socklen_t size = sizeof(address);
    int fd = accept4(listener, (struct sockaddr *)&address, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0)
        return fd;
    socket_address_text((struct sockaddr *)&address, size, from);
    socket_tune(fd);
    return fd;
}

int socket_connect(const struct sockaddr *address, socklen_t size)
{
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    socket_tune(fd);
    if (connect(fd, address, size) < 0 && errno != EINPROGRESS) {
        int errnum = errno;
        close(fd);
        errno = errnum;
        return -1;
    }
    return fd;
}

int socket_error(int fd)
{
    int errnum = 0;
    socklen_t size = sizeof(errnum);
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &errnum, &size) < 0 ? errno : errnum;
}

ssize_t socket_recv(int fd, void *data, size_t size)
{
    ssize_t got;
    do
        got = recv(fd, data, size, MSG_DONTWAIT);
    while (got < 0 && errno == EINTR);
    if (got > 0)
        return got;
    return got == 0 ? -ENOTCONN : -errno;
}

ssize_t socket_send(int fd, const void *data, size_t size)
{
    ssize_t sent;
    do
        sent = send(fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : sent;
}

const char *socket_reason(int errnum)
{
    switch (errnum) {
    case ENOTCONN:
        return "connection closed";
    case ECONNRESET:
    case EPIPE:
        return "connection reset";
    case ECONNREFUSED:
        return "connection refused: it does not listen yet";
    case ETIMEDOUT:
        return "connection timed out: its machine does not answer";
    case EHOSTUNREACH:
        return "no route to its machine";
    case ENETUNREACH:
        return "its network is unreachable";
    case EBADMSG:
        return "data on the encrypted connection was modified on its way";
    default:
        return strerrordesc_np(errnum) ? strerrordesc_np(errnum) : "unknown network error";
    }
}

void socket_address_text(const struct sockaddr *address, socklen_t size,
                         char text[SOCKET_ADDRESS_TEXT_MAX])
{
    char host[64], port[8];
    if (getnameinfo(address, size, host, sizeof(host), port, sizeof(port),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
        snprintf(text, SOCKET_ADDRESS_TEXT_MAX, "unknown address");
        return;
    }
    snprintf(text, SOCKET_ADDRESS_TEXT_MAX, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}
