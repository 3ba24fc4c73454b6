/* Makes the pod network transparent: the service proxy connects to a pod from the address of its
 * client, so that the pod sees the client's address instead of the gateway's.
 *
 * In such a network every pod has a /32 address and the gateway as its only route, so every packet
 * of a pod passes the gateway. nf_tables rules there deliver a packet to the proxy if a socket of
 * the proxy has the packet's addresses and ports. Otherwise the packet is forwarded to its pod. The
 * holder process sets this up together with the network; it needs no further privilege. If the
 * kernel refuses a part, the network is a plain bridge with one range of addresses, and a pod sees
 * the gateway's address. The kind of a network never changes. It is read from the kernel, not from
 * a file. */
#ifndef TRAINYARD_NODE_NETWORK_TRANSPARENT_H
#define TRAINYARD_NODE_NETWORK_TRANSPARENT_H

#include "base/err.h"

#include <stdbool.h>

/* Makes the network of the calling thread transparent. The network must have its bridge and its
 * gateway, and must forward packets. `netlink_fd` is a netlink socket in it. After a failure the
 * network still works as a plain bridge. */
int transparent_lay(int netlink_fd, struct err *err);

/* Finds whether the network of this socket is transparent. */
int transparent_is_laid(int netlink_fd, bool *ret, struct err *err);

#endif
