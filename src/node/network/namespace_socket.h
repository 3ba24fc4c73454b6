/* Creates sockets in a network namespace other than the process's own. Used by the control process
 * and by the helpers of trainyard-step. */
#ifndef TRAINYARD_NODE_NETWORK_NAMESPACE_SOCKET_H
#define TRAINYARD_NODE_NETWORK_NAMESPACE_SOCKET_H

#include "base/err.h"

/* Creates a non-blocking socket in the network namespace that `network_fd` refers to: a namespace
 * file, or the pidfd of a process in that namespace. The caller closes the socket. */
int namespace_socket(int network_fd, int domain, int type, int protocol, int *ret_fd,
                     struct err *err);

/* Like namespace_socket(), but binds the socket to a port of the pod network's gateway. A stream
 * socket also listens. */
int namespace_socket_gateway(int network_fd, int type, int port, int *ret_fd, struct err *err);

#endif
