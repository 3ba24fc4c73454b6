/* Computes the capabilities of a container's root. The planner reads the capabilities in a
 * manifest. trainyard-step never grants more than capabilities_most(). */
#ifndef TRAINYARD_NODE_PLAN_CAPABILITIES_H
#define TRAINYARD_NODE_PLAN_CAPABILITIES_H

#include <stdbool.h>
#include <stdint.h>

/* Returns the default of container runtimes, without mknod and audit_write. No capability in this
 * set allows a process to change a mount. */
uint64_t capabilities_default(void);
/* Returns all capabilities that a manifest may request. `own_network` means that the container does
 * not use the machine's network. An ordinary user (`nested`) can grant only the default. */
uint64_t capabilities_most(bool nested, bool own_network);

/* Returns the bit of a capability that a manifest names, such as "NET_ADMIN" or "CAP_NET_ADMIN".
 * Returns all bits for "ALL", and 0 for an unknown name. */
uint64_t capabilities_named(const char *name);

#endif
