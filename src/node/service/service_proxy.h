/* Keeps services reachable, in the control process and on its loop thread. A service_proxy has two
 * proxies. The helper process HELPER_PROXY serves clients in pods; the service_proxy keeps it
 * running and updates its table when API objects change. A proxy in this process serves node ports
 * and host ports on the machine; if a port cannot be bound, an event about the object says so. Not
 * used if pods run without namespaces. */
#ifndef TRAINYARD_NODE_SERVICE_SERVICE_PROXY_H
#define TRAINYARD_NODE_SERVICE_SERVICE_PROXY_H

#include "kube/client/informer.h"
#include "node/pod/runner.h"

struct service_proxy;

struct service_proxy_options {
    const struct pod_host *host;
    const char *const *node_names; /* ends with NULL */
    struct kube_informer *services, *endpoints, *pods;
};

/* Finds or starts the helper process, which serves its last table. Opens no port and writes no
 * table before service_proxy_changed() is called. The first such call must come after the informers
 * have their first lists; otherwise working routes would be removed for a moment. The objects that
 * the options point to must outlive the service_proxy. Returns 0 and sets `*ret`, or a negative
 * code. */
int service_proxy_new(const struct service_proxy_options *options, struct service_proxy **ret,
                      struct err *err);
/* Closes the ports of the machine. The helper process keeps running. */
struct service_proxy *service_proxy_free(struct service_proxy *self);

/* Sends an event for each port of the service that is not forwarded, because its protocol is
 * neither TCP nor UDP. Sends none for a service without a cluster IP. */
void service_proxy_report_unsupported(struct service_proxy *self, const struct json *service);

/* Must be called when a service, an Endpoints object or a pod with a host port may have changed.
 * The tables are computed again soon after, only once for several calls. */
void service_proxy_changed(struct service_proxy *self);

#endif
