/* Resolves a host name without blocking. The resolver of the C library blocks for seconds if a name
 * server does not answer, so each lookup runs in a thread of its own, which may outlive the caller.
 * A numeric address is resolved at once. Called by rendezvous only. */
#ifndef TRAINYARD_COMM_TRANSPORT_RESOLVE_H
#define TRAINYARD_COMM_TRANSPORT_RESOLVE_H

#include "base/cleanup.h"

#include <netdb.h>
#include <stdbool.h>

struct resolve;

struct resolve *resolve_new(const char *host, int port);
struct resolve *resolve_free(struct resolve *resolve); /* NULL-safe; returns NULL; the thread may
                                                        * still run */
DEFINE_CLEANUP(resolve)

/* Returns a descriptor that becomes readable when the lookup is done. The resolve owns it. */
int resolve_fd(const struct resolve *resolve);
bool resolve_done(const struct resolve *resolve);

/* Only after resolve_done(): returns the addresses, or NULL and the reason as text in *ret_reason.
 * The addresses stay valid until resolve_free(). */
const struct addrinfo *resolve_addresses(const struct resolve *resolve, const char **ret_reason);

/* Only after resolve_done(): whether a name server answered that no such name exists. */
bool resolve_is_unknown(const struct resolve *resolve);

#endif
