/* Sets of capabilities of a container's root. The planner reads what a manifest asks for;
 * trainyard-step never grants more than a sandbox can contain. */
#ifndef TRAINYARD_NODE_PLAN_CAPABILITIES_H
#define TRAINYARD_NODE_PLAN_CAPABILITIES_H

#include <stdbool.h>
#include <stdint.h>

/* Returns the default of container runtimes, without mknod and audit_write: none of these can
 * change a mount. */
uint64_t capabilities_default(void);
/* Returns the most that a manifest can ask for. `own_network` says that the container's network is
 * not the machine's. An ordinary user (`nested`) can grant only the default. */
uint64_t capabilities_most(bool nested, bool own_network);

/* Returns the bit of a name as in manifests, "NET_ADMIN" or "CAP_NET_ADMIN"; all bits for "ALL"; 0
 * if the name is unknown. */
uint64_t capabilities_named(const char *name);

#endif
