/* Whether this machine lets us make what a sandbox needs. A child really tries it, because no
 * setting tells: the kernel's limits, AppArmor, the filters and capabilities of a container we may
 * be in all have a say. */
#ifndef TRAINYARD_NODE_NETWORK_SPACE_PROBE_H
#define TRAINYARD_NODE_NETWORK_SPACE_PROBE_H

#include "base/err.h"

#include <stdbool.h>

/* Root has all that pods need, without a user namespace. */
bool namespace_probe_is_privileged(void);
/* … or at least what it takes to become another user. */
bool namespace_probe_can_become(void);

/* The calling process into a user namespace of its own, in which it is root. */
int namespace_probe_make_user_namespace(struct err *err);

/* 0: namespaces work here. Otherwise `err` says what was tried and refused. `directory` is any
 * directory, over which something is mounted out of sight. */
int namespace_probe(const char *directory, struct err *err);

/* Which setting allows it, as a sentence. */
const char *namespace_probe_advice(void);

#endif
