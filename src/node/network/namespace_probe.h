/* Tests whether this machine allows the namespaces that a sandbox needs. namespaces.c calls it
 * before it creates them. A child process tries to create namespaces, because no single setting
 * tells whether they are allowed: the kernel's limits, AppArmor, and the filters and capabilities
 * of a surrounding container all matter. */
#ifndef TRAINYARD_NODE_NETWORK_NAMESPACE_PROBE_H
#define TRAINYARD_NODE_NETWORK_NAMESPACE_PROBE_H

#include "base/err.h"

#include <stdbool.h>

/* Returns true if this process is root and has all privileges that pods need. Then the cluster
 * needs no user namespace. */
bool namespace_probe_is_privileged(void);
/* Returns true if this process is root and may become another user. */
bool namespace_probe_can_become(void);

/* Moves the calling process into a new user namespace, in which it is root. */
int namespace_probe_make_user_namespace(struct err *err);

/* Returns 0 if namespaces work. Otherwise returns a negative code, and `err`, which must not be
 * NULL, says which attempt was refused. Blocks until the child has ended. `directory` is any
 * directory; the child mounts a file system over it that other processes do not see. */
int namespace_probe(const char *directory, struct err *err);

/* Returns a sentence that says which settings allow namespaces. */
const char *namespace_probe_advice(void);

#endif
