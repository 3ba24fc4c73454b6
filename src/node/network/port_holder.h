/* Who listens on a port of this machine that we want: for the sentence that tells people. */
#ifndef TRAINYARD_NODE_NETWORK_PORT_HOLDER_H
#define TRAINYARD_NODE_NETWORK_PORT_HOLDER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `type` is SOCK_STREAM or SOCK_DGRAM. "python3 (process 4711)"; false where it cannot be told, as
 * of another user's process. Reads all of /proc: not for every day. */
bool node_port_holder(int type, struct in_addr address, uint16_t port, char *text, size_t size);

/* The pure part: the inode of the socket that listens there, on one line of /proc/net/tcp, udp,
 * tcp6 or udp6; 0: it is another's. */
uint64_t node_port_holder_inode(const char *line, int type, struct in_addr address, uint16_t port);

#endif
