/* What a container's root may do, as sets of capabilities. Shared by the planner, which reads what
 * a manifest wants, and by trainyard-step, which never gives more than a sandbox can hold. */
#ifndef TRAINYARD_NODE_POD_CAPABILITIES_H
#define TRAINYARD_NODE_POD_CAPABILITIES_H

#include <stdbool.h>
#include <stdint.h>

/* What container runtimes keep by default, less mknod and audit_write: none can change a mount. */
uint64_t capabilities_default(void);
/* The most that can be asked for. `own_network`: the container's network is not the machine's; and
 * an ordinary user (`nested`) has nothing to give beyond the default. */
uint64_t capabilities_most(bool nested, bool own_network);

/* The bit of a name as manifests write it, "NET_ADMIN" or "CAP_NET_ADMIN"; 0: unknown. "ALL" is all
 * bits. */
uint64_t capabilities_named(const char *name);

#endif
