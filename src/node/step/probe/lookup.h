/* Looks up a host name for a probe or hook with the pod's own name servers, over UDP. Used only in
 * the child of a check, because it blocks. The static program cannot use the C library's resolver,
 * because that one loads shared libraries. */
#ifndef TRAINYARD_NODE_STEP_PROBE_LOOKUP_H
#define TRAINYARD_NODE_STEP_PROBE_LOOKUP_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

/* `resolv_conf` is the text of a resolv.conf; NULL means the machine's. Asks the name servers in
 * this text for the name itself and for the name in each search domain, in the order that the C
 * library uses with "ndots:5". Returns false if no server has an IPv4 address for the name, or if
 * the deadline has passed. /etc/hosts is not read. */
bool step_lookup(const char *resolv_conf, const char *name, int64_t deadline_ms,
                 struct in_addr *ret);

#endif
