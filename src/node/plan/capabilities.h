/* Computes the Linux capabilities that a container may have, as bit masks. The planner
 * (plan/security.c) applies the capabilities in a manifest. trainyard-step never grants more than
 * capabilities_most(). */
#ifndef TRAINYARD_NODE_PLAN_CAPABILITIES_H
#define TRAINYARD_NODE_PLAN_CAPABILITIES_H

#include <stdbool.h>
#include <stdint.h>

/* Returns the default set of container runtimes, without MKNOD and AUDIT_WRITE. No capability in
 * this set allows a process to change a mount. */
uint64_t capabilities_default(void);
/* Returns all capabilities that a container may get. `own_network` means that the container does
 * not use the machine's network. If trainyard runs without the privileges of root (`nested`), these
 * are only the default set. */
uint64_t capabilities_most(bool nested, bool own_network);

/* Returns the bit of a capability that a manifest names, such as "NET_ADMIN" or "CAP_NET_ADMIN".
 * Returns all bits for "ALL", and 0 for an unknown name. */
uint64_t capabilities_named(const char *name);

#endif
