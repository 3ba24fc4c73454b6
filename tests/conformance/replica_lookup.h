/* Looks up a name as a pod does, without the plugins (NSS) of the C library, which do not exist in
 * an image that holds one static program. */
#ifndef TRAINYARD_TESTS_CONFORMANCE_REPLICA_LOOKUP_H
#define TRAINYARD_TESTS_CONFORMANCE_REPLICA_LOOKUP_H

#include "base/json/json.h"

/* The IPv4 addresses of a name as an array of strings, from /etc/hosts, or else through
 * /etc/resolv.conf with its search list and ndots; empty if there are none. NULL: no server
 * answered. */
struct json *replica_lookup(struct arena *arena, const char *name);

#endif
