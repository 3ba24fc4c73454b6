/* Computes the table of names from Services and Endpoints, by the DNS specification of Kubernetes.
 * The name of a service has its cluster IP. The name of a headless service has the addresses of its
 * endpoints. The name of an ExternalName service is an alias. Each endpoint has a name below the
 * name of its service. Each named port has an SRV record. Each cluster IP and each endpoint of a
 * headless service has a PTR record. The name kubernetes.docker.internal has the address of the
 * API. Pure. names/service.c sends the table to the responder. */
#ifndef TRAINYARD_NODE_NAMES_NAMES_H
#define TRAINYARD_NODE_NAMES_NAMES_H

#include "node/names/table.h"
#include "node/service/service_table.h"

/* Adds the names to an empty table. */
void names_collect(struct names_table *table, const struct service_table_source *source);

#endif
