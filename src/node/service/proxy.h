/* A proxy for TCP and UDP on epoll: listens where its table says, connects each caller to one of
 * the places behind, in turn and past those that do not answer, and relays until both have ended.
 * Where a route leads nowhere nothing listens, so that callers are refused at once. Connections go
 * on when the table changes.
 *
 * It runs in two processes: in trainyard-step for the addresses of services, where it outlives the
 * control process, and inside the control process for ports of the machine. So it knows neither
 * loop nor objects. */
#ifndef TRAINYARD_NODE_SERVICE_PROXY_H
#define TRAINYARD_NODE_SERVICE_PROXY_H

#include "node/service/proxy_table.h"

#include <signal.h>

struct proxy;

struct proxy_options {
    /* A socket of this type that can reach `to`, not blocking; NULL: the process's own network. */
    int (*make_socket)(void *context, const struct proxy_place *to, int type, int *ret_fd,
                       struct err *err);
    /* The route cannot be served (told once; it is tried again and again) or can now (err NULL).
     * Must not call back. May be NULL. */
    void (*news)(void *context, const char *owner, const struct proxy_place *listen, int type,
                 const struct err *err);
    void *context;
    /* The network returns to this process what pods send to the address of another pod over its
     * connections (network/transparent.h). */
    bool transparent;
};

/* Whether a transparent proxy connects to `to` from the address of its caller. */
bool proxy_keeps_caller(struct in_addr caller, struct in_addr to);

int proxy_new(const struct proxy_options *options, struct proxy **ret, struct err *err);
struct proxy *proxy_free(struct proxy *proxy); /* ends every connection */

/* Serve this table from now on; it is copied. */
void proxy_set(struct proxy *proxy, const struct proxy_table *table);

/* Readable when there is something to do. */
int proxy_fd(const struct proxy *proxy);
/* Do what there is to do, waiting up to timeout_ms (-1: for ever) for it, with the signal mask
 * `mask` meanwhile (NULL: as it is). Returns after how many ms to call again at the latest, or -1.
 */
int proxy_run(struct proxy *proxy, int timeout_ms, const sigset_t *mask);

size_t proxy_connections(const struct proxy *proxy);

#endif
