/* Messages over a Unix socket that carry descriptors (SCM_RIGHTS). The sockets have the type
 * SOCK_SEQPACKET, so that a message arrives whole or not at all. No function blocks. */
#ifndef TRAINYARD_NODE_PROCESS_FD_MESSAGE_H
#define TRAINYARD_NODE_PROCESS_FD_MESSAGE_H

#include "base/err.h"

#include <stddef.h>
#include <sys/types.h>

enum { FD_MESSAGE_FDS_MAX = 4 };

/* Sends a copy of each descriptor; the caller still owns and closes its own. */
int fd_message_send(int socket_fd, const void *data, size_t size, const int *fds, size_t fd_count,
                    struct err *err);

/* Results of fd_message_receive() that are not a size. */
enum { FD_MESSAGE_ENDED = 0, FD_MESSAGE_NONE = -1, FD_MESSAGE_TOO_LARGE = -2 };

/* Returns the size of the message in `data`. The descriptors that came with it are close-on-exec
 * and belong to the caller; the rest of `ret_fds` is -1. Otherwise returns FD_MESSAGE_ENDED if the
 * peer is gone, FD_MESSAGE_NONE if there is no message now, or FD_MESSAGE_TOO_LARGE if the message
 * or its descriptors did not fit; they were dropped. */
ssize_t fd_message_receive(int socket_fd, void *data, size_t size, int ret_fds[FD_MESSAGE_FDS_MAX]);

#endif
