/* A pod network in which the service proxy connects to a pod from the address of its client, so
 * that the pod sees the client's address instead of the gateway's.
 *
 * In such a network every pod has an address without a range and the gateway as its only route.
 * So the answers of a pod come to the gateway, and rules there tell an answer to a socket of the
 * proxy from a packet that goes on to the pod with that address. The holder lays this when it lays
 * the network; it needs nf_tables, and no right that the holder does not have. Where the kernel
 * refuses a part, pods share one range of addresses and reach each other over the bridge. A network
 * is of one kind as long as it lives, and the kernel knows which: nothing else remembers it. */
#ifndef TRAINYARD_NODE_NETWORK_TRANSPARENT_H
#define TRAINYARD_NODE_NETWORK_TRANSPARENT_H

#include "base/err.h"

#include <stdbool.h>

/* Prepare the network of the calling thread, whose bridge and gateway stand and which forwards.
 * `netlink_fd` is a socket of it. On failure the network is not transparent, and works. */
int transparent_lay(int netlink_fd, struct err *err);

/* Whether the network of this socket is transparent. */
int transparent_is_laid(int netlink_fd, bool *ret, struct err *err);

#endif
