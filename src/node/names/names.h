/* Computes the table of names from Services and Endpoints, by the DNS specification of Kubernetes.
 * A service's name has its cluster IP, a headless service's name the addresses of its endpoints,
 * and an ExternalName is an alias. Each port has an SRV record, and each address of a service a
 * PTR record. Pure. */
#ifndef TRAINYARD_NODE_NAMES_NAMES_H
#define TRAINYARD_NODE_NAMES_NAMES_H

#include "node/names/table.h"
#include "node/service/service_table.h"

/* Adds the names to an empty table. */
void names_collect(struct names_table *table, const struct service_table_source *source);

#endif
