/* Shared by the files of egress: network/egress.c decides and remembers, network/egress_kernel.c
 * sets up links and tables for root. */
#ifndef TRAINYARD_NODE_NETWORK_EGRESS_INTERNAL_H
#define TRAINYARD_NODE_NETWORK_EGRESS_INTERNAL_H

#include "node/network/egress.h"

/* In the pod network: translates everything that leaves by the link to the link's address. */
int egress_masquerade_inside(int network_fd, struct err *err);
/* Keeps pods from the machine's own addresses, where any program of the machine may listen. */
int egress_forbid_machine(int network_fd, struct err *err);

/* Creates the link, its addresses and the table on the machine, and enables forwarding.
 * `way->address` is kept if the link exists. */
int egress_make_kernel(const char *state_dir, int network_fd, struct egress *way, struct err *err);
int egress_remove_kernel(const char *state_dir, struct err *err);

#endif
