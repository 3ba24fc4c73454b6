/* Looking a host up without waiting for it: the C library's resolver blocks for seconds when a
 * server does not answer, so each name gets a thread that outlives its asker if it must. An address
 * in numbers is its own answer, at once. Called by rendezvous only. */
#ifndef TRAINYARD_COMM_RESOLVE_H
#define TRAINYARD_COMM_RESOLVE_H

#include "base/cleanup.h"

#include <netdb.h>
#include <stdbool.h>

struct resolve;

struct resolve *resolve_new(const char *host, int port);
struct resolve *resolve_free(struct resolve *resolve); /* NULL-safe; the thread may still run */
DEFINE_CLEANUP(resolve)

/* Readable once the answer is there. */
int resolve_fd(const struct resolve *resolve);
bool resolve_done(const struct resolve *resolve);

/* Only when done: the addresses, or NULL with the reason in words. */
const struct addrinfo *resolve_addresses(const struct resolve *resolve, const char **ret_reason);

/* Only when done: the answer came, and is that there is no such name. */
bool resolve_is_unknown(const struct resolve *resolve);

#endif
