/* Computes the tables of the two proxies (service/service_proxy.h) from Services, Endpoints and
 * Pods. Ports with other protocols than TCP and UDP are left out. Pure, so that tests need no
 * sockets. */
#ifndef TRAINYARD_NODE_SERVICE_SERVICE_TABLE_H
#define TRAINYARD_NODE_SERVICE_SERVICE_TABLE_H

#include "base/json/json.h"
#include "node/service/proxy_table.h"

/* Finds the API objects. */
struct service_table_source {
    /* Returns the next service of any namespace, or NULL after the last one. `*position` is 0 in
     * the first call. */
    const struct json *(*next_service)(void *context, size_t *position);
    /* Like next_service, for pods. Only service_table_outside() calls it. */
    const struct json *(*next_pod)(void *context, size_t *position);
    /* Returns the Endpoints object, or NULL if it does not exist. */
    const struct json *(*endpoints)(void *context, const char *namespace_, const char *name);
    void *context;
};

/* Computes the routes for clients in pods: each port of each service at its cluster IP. Headless
 * services have no routes. Backends outside of the pod network are left out. */
void service_table_inside(struct arena *arena, const struct service_table_source *source,
                          struct proxy_table *ret);

/* Computes the routes for clients on the machine: node ports at the address of every node, and host
 * ports of running pods at the address of their node. Pods with hostNetwork have no routes, because
 * they listen on the machine themselves. `node_names` ends with NULL. The owner of a route is
 * "Service/<namespace>/<name>" or "Pod/<namespace>/<name>". */
void service_table_outside(struct arena *arena, const struct service_table_source *source,
                           const char *const *node_names, struct proxy_table *ret);

/* Returns whether a table may depend on the pod, because the pod has a host port. */
bool service_table_concerns(const struct json *pod);

#endif
