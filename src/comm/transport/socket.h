/* TCP sockets as the members of a group use them: non-blocking, close-on-exec, with TCP_NODELAY,
 * and with the kernel's keep-alive as heartbeat, so that a lost machine is detected even while no
 * member sends. Called by rendezvous, by the control plane, by the tcp transport and by ps. */
#ifndef TRAINYARD_COMM_TRANSPORT_SOCKET_H
#define TRAINYARD_COMM_TRANSPORT_SOCKET_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

/* Listens on every address of this machine, including IPv6 if `ipv6`. Port 0 takes any free port;
 * socket_local_port() returns it. */
int socket_listen(int port, bool ipv6, int backlog, int *ret_fd, struct err *err);
int socket_local_port(int fd);

/* Formats an address as "10.1.2.3:2222" or "[::1]:2222". */
enum { SOCKET_ADDRESS_TEXT_MAX = 80 };
void socket_address_text(const struct sockaddr *address, socklen_t size,
                         char text[SOCKET_ADDRESS_TEXT_MAX]);

/* Returns the accepted descriptor, or -1 with errno EAGAIN if no connection is pending. Stores the
 * address of the peer in `from` now: a socket whose peer has disconnected no longer knows it. */
int socket_accept(int listener, char from[SOCKET_ADDRESS_TEXT_MAX]);

/* Starts to connect. Returns the descriptor, or -1 with errno. The attempt has ended when the
 * descriptor is ready for writing; socket_error() then returns its errno, or 0 if it succeeded. */
int socket_connect(const struct sockaddr *address, socklen_t size);
int socket_error(int fd);

/* Ends the connection if sent bytes are not acknowledged within seconds. Only for a connection
 * whose reader always empties it: the kernel cannot tell a peer that does not read from a lost one.
 */
void socket_limit_silence(int fd);

/* Turns off pacing (the BBR congestion control) if both ends of the connection are on this machine.
 * For connections that carry much data. */
void socket_do_not_pace_local(int fd);

/* Like recv() and send() without blocking, but they return the error: -EAGAIN if nothing can move
 * now, -ENOTCONN if the peer closed the connection, another negative errno if it broke. Interrupted
 * calls are repeated. */
ssize_t socket_recv(int fd, void *data, size_t size);
ssize_t socket_send(int fd, const void *data, size_t size);

/* Describes why a connection broke, for example "connection reset". */
const char *socket_reason(int errnum);

#endif
