/* Sets up TCP sockets for the members of a group: non-blocking, close-on-exec, and with
 * TCP_NODELAY. The kernel's keep-alive detects a lost machine even while no member sends. Called by
 * the handshake, the control and data connections, rendezvous and its listener, and ps. */
#ifndef TRAINYARD_COMM_TRANSPORT_SOCKET_H
#define TRAINYARD_COMM_TRANSPORT_SOCKET_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

/* Listens on every IPv4 address of this machine and, if `ipv6`, also on its IPv6 addresses. With
 * port 0 the kernel chooses a free port. The caller closes *ret_fd. */
int socket_listen(int port, bool ipv6, int backlog, int *ret_fd, struct err *err);
/* Returns the port on which the socket listens, or 0 on failure. */
int socket_local_port(int fd);

/* Formats an address as "10.1.2.3:2222" or "[::1]:2222". */
enum { SOCKET_ADDRESS_TEXT_MAX = 80 };
void socket_address_text(const struct sockaddr *address, socklen_t size,
                         char text[SOCKET_ADDRESS_TEXT_MAX]);

/* Returns the accepted descriptor, or -1 with errno, which is EAGAIN if no connection is pending.
 * Writes the address of the peer to `from`, because getpeername() fails after the peer has
 * disconnected. */
int socket_accept(int listener, char from[SOCKET_ADDRESS_TEXT_MAX]);

/* Starts to connect. Returns the descriptor, or -1 with errno. The attempt has ended when the
 * descriptor is ready for writing; socket_error() then returns the errno of the attempt, or 0 if it
 * succeeded. */
int socket_connect(const struct sockaddr *address, socklen_t size);
int socket_error(int fd);

/* Makes the kernel end the connection if sent bytes are not acknowledged within 10 seconds. Only
 * for connections whose peer reads at once: the kernel cannot distinguish a peer that does not read
 * from a lost peer. */
void socket_limit_silence(int fd);

/* Turns off pacing (the BBR congestion control) if both ends of the connection are on this machine.
 * For data connections. */
void socket_do_not_pace_local(int fd);

/* Like recv() and send() without blocking, but return a negative errno on failure: -EAGAIN if no
 * bytes can be received or sent now, -ENOTCONN if the peer has closed the connection, another value
 * if the connection broke. Interrupted calls are repeated. */
ssize_t socket_recv(int fd, void *data, size_t size);
ssize_t socket_send(int fd, const void *data, size_t size);

/* Describes why a connection broke, for example "connection reset". */
const char *socket_reason(int errnum);

#endif
