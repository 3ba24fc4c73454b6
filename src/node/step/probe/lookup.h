/* The address of a name, as a probe needs it: asked of the pod's own name servers, over UDP, while
 * the caller waits. The static program cannot use the C library's resolver, which loads others. */
#ifndef TRAINYARD_NODE_STEP_LOOKUP_H
#define TRAINYARD_NODE_STEP_LOOKUP_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

/* `resolv_conf` is the text of such a file, NULL for the machine's: its name servers are asked for
 * the name as it stands and below each of its search domains, by the rule of dots (ndots). False:
 * nobody knows it, or the time is over. Names of /etc/hosts are not looked at. */
bool step_lookup(const char *resolv_conf, const char *name, int64_t deadline_ms,
                 struct in_addr *ret);

#endif
