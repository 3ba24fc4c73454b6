/* Shared by the files of egress: network/egress.c chooses the kind of egress and stores it, and
 * network/egress_kernel.c writes to the kernel. */
#ifndef TRAINYARD_NODE_NETWORK_EGRESS_INTERNAL_H
#define TRAINYARD_NODE_NETWORK_EGRESS_INTERNAL_H

#include "node/network/egress.h"

/* Adds a rule to the pod network: packets that leave by the egress link get the link's address as
 * their source. */
int egress_masquerade_inside(int network_fd, struct err *err);
/* Blocks packets from pods to the IPv4 addresses that the machine has now, because any program of
 * the machine may listen there. Skips loopback and the egress links of root's clusters. */
int egress_forbid_machine(int network_fd, struct err *err);

/* Sets up egress for root: the link, its addresses, the table on the machine, and forwarding. Keeps
 * an existing link and its address. Sets egress->complaint if a firewall drops the packets. */
int egress_make_kernel(const char *state_dir, int network_fd, struct egress *egress,
                       struct err *err);
/* Removes the link and the table from the machine. The last cluster turns forwarding off again. */
int egress_remove_kernel(const char *state_dir, struct err *err);

#endif
