/* What the files of the way out share: network/egress.c decides and remembers,
 * network/egress_kernel.c is root's.
 */
#ifndef TRAINYARD_NODE_NETWORK_WAY_OUT_INTERNAL_H
#define TRAINYARD_NODE_NETWORK_WAY_OUT_INTERNAL_H

#include "node/network/egress.h"

/* In the pod network: all that leaves by its link has the link's address. */
int egress_masquerade_inside(int network_fd, struct err *err);
/* Pods and the machine's own addresses, of which any program of the machine's could be behind. */
int egress_forbid_machine(int network_fd, struct err *err);

/* The link, its addresses, the table on the machine, and that it forwards. `way->address` is kept
 * where the link stands. */
int egress_make_kernel(const char *state_dir, int network_fd, struct egress *way, struct err *err);
int egress_remove_kernel(const char *state_dir, struct err *err);

#endif
