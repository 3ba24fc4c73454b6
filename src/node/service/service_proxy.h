/* Keeps services reachable: updates the table of the service proxy when objects change, starts the
 * proxy again when it dies, and listens on the machine for node ports and host ports. A port that
 * cannot be bound is reported on the object. */
#ifndef TRAINYARD_NODE_SERVICE_SERVICE_PROXY_H
#define TRAINYARD_NODE_SERVICE_SERVICE_PROXY_H

#include "kube/client/informer.h"
#include "node/pod/runner.h"

struct service_proxy;

struct service_proxy_options {
    const struct pod_host *host;   /* must outlive the service_proxy, as all options */
    const char *const *node_names; /* ends with NULL */
    struct kube_informer *services, *endpoints, *pods;
};

/* Serves nothing before the first service_proxy_changed(): the informers must have their first
 * lists, or working routes would be removed for a moment. */
int service_proxy_new(const struct service_proxy_options *options, struct service_proxy **ret,
                      struct err *err);
/* Closes the ports of the machine; the service proxy process keeps running. */
struct service_proxy *service_proxy_free(struct service_proxy *self);

/* A service is new: reports fields that have no effect here, on the service. */
void service_proxy_announce(struct service_proxy *self, const struct json *service);

/* A service, an Endpoints or a pod may have changed. The tables are computed once in the next
 * turn, however often this is called. */
void service_proxy_changed(struct service_proxy *self);

#endif
