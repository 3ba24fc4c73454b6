/* Keeps services reachable: updates the table of the service proxy when objects change, restarts
 * the proxy when it dies, and listens on the machine for node ports and host ports. If a port
 * cannot be bound, an event about the object reports it. */
#ifndef TRAINYARD_NODE_SERVICE_SERVICE_PROXY_H
#define TRAINYARD_NODE_SERVICE_SERVICE_PROXY_H

#include "kube/client/informer.h"
#include "node/pod/runner.h"

struct service_proxy;

struct service_proxy_options {
    const struct pod_host *host;   /* all options must outlive the service_proxy */
    const char *const *node_names; /* ends with NULL */
    struct kube_informer *services, *endpoints, *pods;
};

/* Serves nothing before the first service_proxy_changed(). That call must wait until the informers
 * have their first lists; otherwise working routes would be removed for a moment. */
int service_proxy_new(const struct service_proxy_options *options, struct service_proxy **ret,
                      struct err *err);
/* Closes the ports of the machine. The process of the service proxy continues to run. */
struct service_proxy *service_proxy_free(struct service_proxy *self);

/* Sends an event for each port of a new service whose protocol is neither TCP nor UDP. */
void service_proxy_announce(struct service_proxy *self, const struct json *service);

/* Must be called when a service, an Endpoints object or a pod may have changed. Several calls lead
 * to one computation of the tables, which follows soon. */
void service_proxy_changed(struct service_proxy *self);

#endif
