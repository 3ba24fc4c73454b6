/* Sockets of another network than the process's own. */
#ifndef TRAINYARD_NODE_NETWORK_INSIDE_SOCKET_H
#define TRAINYARD_NODE_NETWORK_INSIDE_SOCKET_H

#include "base/err.h"

/* A socket in the network that `network_fd` stands for: a namespace, or the pidfd of a process in
 * it. It does not block. */
int namespace_socket(int network_fd, int domain, int type, int protocol, int *ret_fd,
                     struct err *err);

/* The same, bound to a port of the pod network's gateway; a stream socket listens. */
int namespace_socket_gateway(int network_fd, int type, int port, int *ret_fd, struct err *err);

#endif
