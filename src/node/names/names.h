/* Computes the table of names from Services and Endpoints, by the DNS specification of Kubernetes.
 * The name of a service has its cluster IP. The name of a headless service has the addresses of its
 * endpoints. The name of an ExternalName service is an alias. Each named port has an SRV record.
 * Each cluster IP and each endpoint of a headless service has a PTR record. Pure. */
#ifndef TRAINYARD_NODE_NAMES_NAMES_H
#define TRAINYARD_NODE_NAMES_NAMES_H

#include "node/names/table.h"
#include "node/service/service_table.h"

/* Adds the names to an empty table. */
void names_collect(struct names_table *table, const struct service_table_source *source);

#endif
