/* Makes the pod network transparent: the service proxy connects to a pod from the address of its
 * client, so that the pod sees the client's address instead of the gateway's.
 *
 * In such a network every pod has a /32 address and the gateway as its only route, so every packet
 * of a pod passes the gateway. nf_tables rules on the gateway deliver a packet to the proxy if a
 * socket of the proxy has the packet's addresses and ports. Other packets are forwarded to their
 * pods. The holder process makes the network transparent when it creates the network; that needs no
 * further privilege. If the kernel refuses a part, the network is a plain bridge with one range of
 * addresses, and a pod sees the gateway's address. Whether a network is transparent never changes.
 * The sandbox and the proxy read it from the kernel, not from a file. */
#ifndef TRAINYARD_NODE_NETWORK_TRANSPARENT_H
#define TRAINYARD_NODE_NETWORK_TRANSPARENT_H

#include "base/err.h"

#include <stdbool.h>

/* Makes the network of the calling thread transparent. The network must have its bridge and its
 * gateway, and must forward packets. `netlink_fd` is a netlink socket in it. After a failure the
 * network works as a plain bridge. */
int transparent_set_up(int netlink_fd, struct err *err);

/* Sets *ret to whether the network of this netlink socket is transparent. */
int transparent_is_set_up(int netlink_fd, bool *ret, struct err *err);

#endif
