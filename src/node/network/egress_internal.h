/* Shared by the files of egress: network/egress.c chooses and records, network/egress_kernel.c sets
 * up links and tables for root. */
#ifndef TRAINYARD_NODE_NETWORK_EGRESS_INTERNAL_H
#define TRAINYARD_NODE_NETWORK_EGRESS_INTERNAL_H

#include "node/network/egress.h"

/* Adds a rule to the pod network: packets that leave by the egress link get the link's address as
 * their source. */
int egress_masquerade_inside(int network_fd, struct err *err);
/* Blocks packets from pods to the machine's own addresses, where any program of the machine may
 * listen. */
int egress_forbid_machine(int network_fd, struct err *err);

/* Creates the link, its addresses and the table on the machine, and enables forwarding. If the link
 * exists already, `way->address` is kept. */
int egress_make_kernel(const char *state_dir, int network_fd, struct egress *way, struct err *err);
int egress_remove_kernel(const char *state_dir, struct err *err);

#endif
