/* How services are reached, kept true: the table of the service proxy follows the objects, a proxy
 * that dies is started again, and this process itself listens on the machine for node ports and
 * host ports. What cannot be had is said on the object. */
#ifndef TRAINYARD_NODE_SERVICE_SERVICE_PROXY_H
#define TRAINYARD_NODE_SERVICE_SERVICE_PROXY_H

#include "kube/client/informer.h"
#include "node/pod/runner.h"

struct service_proxy;

struct service_proxy_options {
    const struct pod_host *host;   /* must outlive it, as everything here */
    const char *const *node_names; /* NULL-terminated */
    struct kube_informer *services, *endpoints, *pods;
};

/* Nothing is served before the first service_proxy_changed(): informers have to be full, or routes
 * that live would be taken away for a moment. */
int service_proxy_new(const struct service_proxy_options *options, struct service_proxy **ret,
                      struct err *err);
/* Ports of the machine are given back; the service proxy goes on. */
struct service_proxy *service_proxy_free(struct service_proxy *self);

/* A service is new: what it asks for and does not get is said on it. */
void service_proxy_announce(struct service_proxy *self, const struct json *service);

/* A service, an Endpoints or a pod may have changed: looked at in the next turn, however often this
 * is called. */
void service_proxy_changed(struct service_proxy *self);

#endif
