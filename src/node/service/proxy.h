/* A proxy for TCP and UDP on epoll. It listens where its table says, connects each client to one
 * of the backends, in turn and skipping those that do not answer, and relays until both sides have
 * ended. A route without backends has no listener, so that clients are refused at once.
 * Connections survive a change of the table.
 *
 * It runs in two processes: in trainyard-step for the addresses of services, where it outlives the
 * control process, and inside the control process for ports of the machine. So it uses neither the
 * loop nor API objects. */
#ifndef TRAINYARD_NODE_SERVICE_PROXY_H
#define TRAINYARD_NODE_SERVICE_PROXY_H

#include "node/service/proxy_table.h"

#include <signal.h>

struct proxy;

struct proxy_options {
    /* Creates a non-blocking socket of this type that can reach `to`; NULL means a socket in the
     * process's own network. */
    int (*make_socket)(void *context, const struct proxy_place *to, int type, int *ret_fd,
                       struct err *err);
    /* The route cannot be served (reported once; the proxy tries again), or can be served now (err
     * is NULL). Must not call the proxy. May be NULL. */
    void (*news)(void *context, const char *owner, const struct proxy_place *listen, int type,
                 const struct err *err);
    void *context;
    /* The network returns to this process the packets that pods send to the address of another pod
     * over its connections (network/transparent.h). */
    bool transparent;
};

/* Whether a transparent proxy connects to `to` from the address of its client. */
bool proxy_keeps_caller(struct in_addr caller, struct in_addr to);

int proxy_new(const struct proxy_options *options, struct proxy **ret, struct err *err);
struct proxy *proxy_free(struct proxy *proxy); /* ends every connection */

/* Serves this table from now on; it is copied. */
void proxy_set(struct proxy *proxy, const struct proxy_table *table);

/* Readable when proxy_run() has something to do. */
int proxy_fd(const struct proxy *proxy);
/* Handles events, waiting up to timeout_ms for them (-1 means for ever) with the signal mask
 * `mask` (NULL means the current one). Returns the number of ms after which to call it again at
 * the latest, or -1. */
int proxy_run(struct proxy *proxy, int timeout_ms, const sigset_t *mask);

size_t proxy_connections(const struct proxy *proxy);

#endif
