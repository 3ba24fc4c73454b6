/* Sends and receives messages with file descriptors (SCM_RIGHTS) over a Unix socket. The control
 * process, the supervisor of a pod, the first processes of its containers and the processes of exec
 * commands use it. The sockets have the type SOCK_SEQPACKET, so that a message arrives whole or not
 * at all. No function blocks. */
#ifndef TRAINYARD_NODE_PROCESS_FD_MESSAGE_H
#define TRAINYARD_NODE_PROCESS_FD_MESSAGE_H

#include "base/err.h"

#include <stddef.h>
#include <sys/types.h>

enum { FD_MESSAGE_FDS_MAX = 4 };

/* Sends a message with a copy of each descriptor. The caller still owns its descriptors and closes
 * them. Returns 0, or a negative code, also if the message cannot be sent without waiting. */
int fd_message_send(int socket_fd, const void *data, size_t size, const int *fds, size_t fd_count,
                    struct err *err);

/* Results of fd_message_receive() that are not a size. */
enum { FD_MESSAGE_ENDED = 0, FD_MESSAGE_NONE = -1, FD_MESSAGE_TOO_LARGE = -2 };

/* Receives a message into `data` and returns its size. Sets `ret_fds` to the descriptors that came
 * with the message, and the rest of `ret_fds` to -1. The descriptors are close-on-exec, and the
 * caller closes them. Returns FD_MESSAGE_NONE if there is no message now. Returns FD_MESSAGE_ENDED
 * if the peer is gone or the socket has failed. Returns FD_MESSAGE_TOO_LARGE if the message or its
 * descriptors did not fit; they are lost. */
ssize_t fd_message_receive(int socket_fd, void *data, size_t size, int ret_fds[FD_MESSAGE_FDS_MAX]);

#endif
