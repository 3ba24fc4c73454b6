/* Computes the tables of the proxies from Services, Endpoints and Pods, for TCP and UDP. Pure, so
 * that tests need no sockets. */
#ifndef TRAINYARD_NODE_SERVICE_SERVICE_TABLE_H
#define TRAINYARD_NODE_SERVICE_SERVICE_TABLE_H

#include "base/json/json.h"
#include "node/service/proxy_table.h"

struct service_table_source {
    /* Returns the next object. `*position` is 0 in the first call. Returns NULL after the last
     * object. */
    const struct json *(*next_service)(void *context, size_t *position);
    const struct json *(*next_pod)(void *context, size_t *position);
    const struct json *(*endpoints)(void *context, const char *namespace_, const char *name);
    void *context;
};

/* Computes the routes for clients in pods: each port of each service at its cluster IP. */
void service_table_inside(struct arena *arena, const struct service_table_source *source,
                          struct proxy_table *ret);

/* Computes the routes for clients on the machine: node ports at the address of every node, and host
 * ports of running pods at the address of their node. `node_names` ends with NULL. The owner of a
 * route is "Service/<namespace>/<name>" or "Pod/<namespace>/<name>". */
void service_table_outside(struct arena *arena, const struct service_table_source *source,
                           const char *const *node_names, struct proxy_table *ret);

/* Whether a table may depend on the pod, because the pod has a host port. */
bool service_table_concerns(const struct json *pod);

#endif
