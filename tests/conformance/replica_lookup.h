/* Looking a name up as a pod does, without the C library's plugins: an image that holds one static
 * program has none. */
#ifndef TRAINYARD_TESTS_CONFORMANCE_REPLICA_LOOKUP_H
#define TRAINYARD_TESTS_CONFORMANCE_REPLICA_LOOKUP_H

#include "base/json/json.h"

/* The IPv4 addresses of a name as an array of strings, from /etc/hosts, or else by /etc/resolv.conf
 * with its search list and ndots; empty if there are none. NULL: no server answered. */
struct json *replica_lookup(struct arena *arena, const char *name);

#endif
