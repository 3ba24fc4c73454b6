/* From Services, Endpoints and Pods to the tables of the proxies: pure, so that every shape of a
 * service can be tested without a socket. TCP and UDP. */
#ifndef TRAINYARD_NODE_SERVICE_SERVICE_TABLE_H
#define TRAINYARD_NODE_SERVICE_SERVICE_TABLE_H

#include "base/json/json.h"
#include "node/service/proxy_table.h"

struct service_table_source {
    /* Visit all: start with *position = 0; NULL behind the last. */
    const struct json *(*next_service)(void *context, size_t *position);
    const struct json *(*next_pod)(void *context, size_t *position);
    const struct json *(*endpoints)(void *context, const char *namespace_, const char *name);
    void *context;
};

/* What pods reach: each port of each service at its cluster address. */
void service_table_inside(struct arena *arena, const struct service_table_source *source,
                          struct proxy_table *ret);

/* What the machine reaches: node ports at the address of every node, host ports of running pods at
 * that of their own. `node_names` is NULL-terminated. The owner of a route is
 * "Service/<namespace>/<name>" or "Pod/…". */
void service_table_outside(struct arena *arena, const struct service_table_source *source,
                           const char *const *node_names, struct proxy_table *ret);

/* Whether a table may show something of the pod: it has a host port. */
bool service_table_concerns(const struct json *pod);

#endif
