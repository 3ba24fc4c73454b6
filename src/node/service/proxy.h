/* A proxy for TCP and UDP on epoll. It listens on the addresses in its table and connects each
 * client to a backend. Clients get the backends in rotation, and backends that do not answer are
 * skipped. A TCP connection lasts until both sides have ended, even if the table changes. A route
 * without backends has no listener, so that clients are refused at once.
 *
 * The proxy runs in two processes. In trainyard-step it serves the addresses of services and
 * outlives the control process. Inside the control process it serves ports of the machine. So it
 * uses neither the loop nor API objects. */
#ifndef TRAINYARD_NODE_SERVICE_PROXY_H
#define TRAINYARD_NODE_SERVICE_PROXY_H

#include "node/service/proxy_table.h"

#include <signal.h>

struct proxy;

struct proxy_options {
    /* Creates a non-blocking socket of this type that can reach `to`. NULL: sockets are created in
     * the process's own network. */
    int (*make_socket)(void *context, const struct proxy_place *to, int type, int *ret_fd,
                       struct err *err);
    /* Called when a route cannot be served, with the error, and when it can be served again, with
     * `err` NULL. A failure is reported once, and the proxy tries again. Must not call the proxy.
     * May be NULL. */
    void (*news)(void *context, const char *owner, const struct proxy_place *listen, int type,
                 const struct err *err);
    void *context;
    /* Whether the pod network is transparent (network/transparent.h). Then the proxy connects to a
     * pod from the address of its client, and the network delivers the pod's answers to the proxy.
     */
    bool transparent;
};

/* Whether a transparent proxy connects to `to` from the client's address `caller`. */
bool proxy_keeps_caller(struct in_addr caller, struct in_addr to);

int proxy_new(const struct proxy_options *options, struct proxy **ret, struct err *err);
struct proxy *proxy_free(struct proxy *proxy); /* ends every connection */

/* Replaces the table. The table is copied. */
void proxy_set(struct proxy *proxy, const struct proxy_table *table);

/* Returns a descriptor that is readable when proxy_run() must be called. */
int proxy_fd(const struct proxy *proxy);
/* Handles events, waiting up to timeout_ms for them (-1 means for ever) with the signal mask `mask`
 * (NULL means the current one). Returns the number of milliseconds after which proxy_run() must be
 * called again, or -1. */
int proxy_run(struct proxy *proxy, int timeout_ms, const sigset_t *mask);

size_t proxy_connections(const struct proxy *proxy);

#endif
