/* Finds the process that listens on a port of this machine, for messages to users. Used by
 * 'trainyard up' and by port_event.c. */
#ifndef TRAINYARD_NODE_NETWORK_PORT_HOLDER_H
#define TRAINYARD_NODE_NETWORK_PORT_HOLDER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes the name and PID of the process to `text`, as in "python3 (process 4711)". `type` is
 * SOCK_STREAM or SOCK_DGRAM. Returns false if the process cannot be found, for example because it
 * belongs to another user. Reads all of /proc, so it is slow. */
bool node_port_holder(int type, struct in_addr address, uint16_t port, char *text, size_t size);

/* Returns the inode of a socket if this line of /proc/net/tcp, udp, tcp6 or udp6 describes a socket
 * that listens at this address or at all addresses. Otherwise returns 0. Pure. */
uint64_t node_port_holder_inode(const char *line, int type, struct in_addr address, uint16_t port);

#endif
