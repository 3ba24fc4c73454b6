/* Messages over a Unix socket that carry descriptors along (SCM_RIGHTS). The sockets are of
 * SOCK_SEQPACKET, so a message arrives whole or not at all. Nothing here blocks. */
#ifndef TRAINYARD_NODE_PROCESS_FD_MESSAGE_H
#define TRAINYARD_NODE_PROCESS_FD_MESSAGE_H

#include "base/err.h"

#include <stddef.h>
#include <sys/types.h>

enum { FD_MESSAGE_FDS_MAX = 4 };

/* The descriptors stay the sender's. */
int fd_message_send(int socket_fd, const void *data, size_t size, const int *fds, size_t fd_count,
                    struct err *err);

/* What fd_message_receive() gives where it is no size. */
enum { FD_MESSAGE_ENDED = 0, FD_MESSAGE_NONE = -1, FD_MESSAGE_TOO_LARGE = -2 };

/* The size of the message in `data`, and the descriptors that came with it, close-on-exec and the
 * caller's; the rest of `ret_fds` is -1. Or one of the above: the peer is gone, there is no message
 * now, or it did not fit, and then nothing of it is kept. */
ssize_t fd_message_receive(int socket_fd, void *data, size_t size, int ret_fds[FD_MESSAGE_FDS_MAX]);

#endif
