/* A proxy for TCP and UDP on epoll. It listens on the addresses in its table and connects each
 * client to a backend of the route: in rotation or, if the route is sticky, by the client's
 * address. For a TCP client it tries the next backend if one does not answer. A change of the table
 * does not end TCP connections. A route without backends has no listener, so that clients are
 * refused at once.
 *
 * Two processes run a proxy. trainyard-step (step/helper/proxy.c) serves the addresses of services
 * and outlives the control process. The control process (service/service_proxy.c) serves ports of
 * the machine. So the proxy must use neither the loop nor API objects. No function blocks, except
 * proxy_run(). */
#ifndef TRAINYARD_NODE_SERVICE_PROXY_H
#define TRAINYARD_NODE_SERVICE_PROXY_H

#include "node/service/proxy_table.h"

#include <signal.h>

struct proxy;

struct proxy_options {
    /* Creates a non-blocking socket of this type (SOCK_STREAM or SOCK_DGRAM) that can reach `to`.
     * Returns 0, or a negative code. If it is NULL, sockets are created in the network of the
     * process. */
    int (*make_socket)(void *context, const struct proxy_place *to, int type, int *ret_fd,
                       struct err *err);
    /* Called when the proxy cannot listen for a route, with the error, and when it listens later,
     * with `err` NULL. The proxy repeats the attempt, but reports the failure only once. `owner` is
     * proxy_route.owner, or "" if that is NULL. The callee must not call the proxy. May be NULL. */
    void (*report)(void *context, const char *owner, const struct proxy_place *listen, int type,
                   const struct err *err);
    void *context;
    /* The pod network is transparent (network/transparent.h): the proxy connects to a pod from the
     * address of the client, and the network delivers the pod's answers to the proxy. */
    bool transparent;
};

/* Returns whether a transparent proxy connects to the backend `to` from the client's address.
 * Otherwise it connects from its own address. */
bool proxy_keeps_client_address(struct in_addr client, struct in_addr to);

/* Returns 0 and sets `*ret`, or a negative code. `options` may be NULL. */
int proxy_new(const struct proxy_options *options, struct proxy **ret, struct err *err);
struct proxy *proxy_free(struct proxy *proxy); /* ends every connection */

/* Replaces the table. The table is copied. */
void proxy_set(struct proxy *proxy, const struct proxy_table *table);

/* Returns a descriptor that is readable when proxy_run() must be called. */
int proxy_fd(const struct proxy *proxy);
/* Waits for events and handles them. Waits for at most timeout_ms (-1 means without limit), with
 * the signal mask `mask` (NULL means the current one). Returns the number of milliseconds after
 * which proxy_run() must be called again at the latest, or -1 if it need not be called before
 * proxy_fd() is readable. */
int proxy_run(struct proxy *proxy, int timeout_ms, const sigset_t *mask);

/* Returns the number of open TCP connections of clients. */
size_t proxy_connections(const struct proxy *proxy);

#endif
