/* Resolves a host name without blocking. The resolver of the C library blocks for seconds if a name
 * server does not answer, so each lookup runs in a thread of its own, which may outlive the caller.
 * A numeric address is resolved at once. Called by rendezvous only. */
#ifndef TRAINYARD_COMM_TRANSPORT_RESOLVE_H
#define TRAINYARD_COMM_TRANSPORT_RESOLVE_H

#include "base/cleanup.h"

#include <netdb.h>
#include <stdbool.h>

struct resolve;

/* Starts to look up a name. Never fails: a lookup that cannot be started ends like one that gets no
 * answer. The caller frees the result with resolve_free(). */
struct resolve *resolve_new(const char *host, int port);
/* NULL-safe; returns NULL. The thread of the lookup may still run. */
struct resolve *resolve_free(struct resolve *resolve);
DEFINE_CLEANUP(resolve)

/* Returns a descriptor that becomes readable when the lookup is done. The descriptor may be -1, or
 * never become readable, if the lookup was done when resolve_new() returned: the caller must check
 * resolve_done() before it waits. The caller must not close the descriptor. */
int resolve_fd(const struct resolve *resolve);
bool resolve_done(const struct resolve *resolve);

/* Must be called only after resolve_done(). Returns the addresses, or NULL and the reason as text
 * in *ret_reason. The addresses stay valid until resolve_free(). */
const struct addrinfo *resolve_addresses(const struct resolve *resolve, const char **ret_reason);

/* Must be called only after resolve_done(). Whether the name does not exist. */
bool resolve_is_unknown(const struct resolve *resolve);

#endif
