/* TCP sockets as the members of a group use them: non-blocking, closed on exec, without delay for
 * small messages, and with the kernel's keep-alive as heartbeat, so that a machine that is gone is
 * noticed even while nobody sends. Called by rendezvous and transport_tcp only. */
#ifndef TRAINYARD_COMM_SOCKET_H
#define TRAINYARD_COMM_SOCKET_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

/* On every address of this machine (IPv6 too if `ipv6`); port 0: any free one, told by
 * socket_local_port. */
int socket_listen(int port, bool ipv6, int backlog, int *ret_fd, struct err *err);
int socket_local_port(int fd);

/* "10.1.2.3:2222" or "[::1]:2222". */
enum { SOCKET_ADDRESS_TEXT_MAX = 80 };
void socket_address_text(const struct sockaddr *address, socklen_t size,
                         char text[SOCKET_ADDRESS_TEXT_MAX]);

/* -1 with errno EAGAIN when nobody waits. Who it is from is told now: the socket of one that has
 * gone again does not know it any more. */
int socket_accept(int listener, char from[SOCKET_ADDRESS_TEXT_MAX]);

/* Starts to connect; ready for writing tells the end, socket_error() how it ended (an errno). */
int socket_connect(const struct sockaddr *address, socklen_t size);
int socket_error(int fd);

/* What was sent and is not acknowledged within seconds ends the connection. Only for a connection
 * whose reader never lets it fill: a full one counts as silent too, however well its peer is. */
void socket_limit_silence(int fd);

/* For a connection that carries much: where both its ends are on this machine, it sends what it has
 * at once, whatever the machine does towards others. */
void socket_do_not_pace_local(int fd);

/* As recv and send without blocking, but: -EAGAIN when nothing moves now, another negative errno
 * for a broken connection, -ENOTCONN for one that the peer closed. Signals are waited out. */
ssize_t socket_recv(int fd, void *data, size_t size);
ssize_t socket_send(int fd, const void *data, size_t size);

/* Why a connection broke, as words: "connection reset" … */
const char *socket_reason(int errnum);

#endif
