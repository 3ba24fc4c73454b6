/* A pod network in which the service proxy connects to a pod from the address of its client, so
 * that the pod sees the client's address instead of the gateway's.
 *
 * In such a network every pod has a /32 address and the gateway as its only route, so every packet
 * of a pod passes the gateway. nf_tables rules there give a packet to the proxy if one of the
 * proxy's sockets has its addresses and ports, and forward it to the other pod if not. The holder
 * sets this up together with the network; it needs no further privilege. If the kernel refuses a
 * part, the network is a plain bridge with one range of addresses, and a pod sees the gateway's
 * address. The kind of a network never changes. It is read from the kernel, not from a file. */
#ifndef TRAINYARD_NODE_NETWORK_TRANSPARENT_H
#define TRAINYARD_NODE_NETWORK_TRANSPARENT_H

#include "base/err.h"

#include <stdbool.h>

/* Makes the network of the calling thread transparent. It must have its bridge and its gateway,
 * and forward packets. `netlink_fd` is a netlink socket in it. After a failure the network is a
 * plain bridge and works. */
int transparent_lay(int netlink_fd, struct err *err);

/* Whether the network of this socket is transparent. */
int transparent_is_laid(int netlink_fd, bool *ret, struct err *err);

#endif
