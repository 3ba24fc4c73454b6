/* Computes the tables of the proxies from Services, Endpoints and Pods. Pure, so that every kind
 * of service is tested without a socket. TCP and UDP. */
#ifndef TRAINYARD_NODE_SERVICE_SERVICE_TABLE_H
#define TRAINYARD_NODE_SERVICE_SERVICE_TABLE_H

#include "base/json/json.h"
#include "node/service/proxy_table.h"

struct service_table_source {
    /* Iterates: start with *position = 0; NULL follows the last. */
    const struct json *(*next_service)(void *context, size_t *position);
    const struct json *(*next_pod)(void *context, size_t *position);
    const struct json *(*endpoints)(void *context, const char *namespace_, const char *name);
    void *context;
};

/* Computes what pods reach: each port of each service at its cluster IP. */
void service_table_inside(struct arena *arena, const struct service_table_source *source,
                          struct proxy_table *ret);

/* Computes what the machine reaches: node ports at the address of every node, host ports of
 * running pods at the address of their node. `node_names` ends with NULL. The owner of a route is
 * "Service/<namespace>/<name>" or "Pod/…". */
void service_table_outside(struct arena *arena, const struct service_table_source *source,
                           const char *const *node_names, struct proxy_table *ret);

/* Whether a table may depend on the pod: it has a host port. */
bool service_table_concerns(const struct json *pod);

#endif
