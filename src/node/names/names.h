/* From Services and Endpoints to the table of names: a service's name gives its cluster address,
 * that of a headless one the addresses behind it, that of an ExternalName the name it stands for;
 * each port has an SRV name, each address of a service a way back. As the DNS specification of
 * Kubernetes says. Pure. */
#ifndef TRAINYARD_NODE_NAMES_NAMES_H
#define TRAINYARD_NODE_NAMES_NAMES_H

#include "node/names/table.h"
#include "node/service/service_table.h"

/* Into an empty table. */
void names_collect(struct names_table *table, const struct service_table_source *source);

#endif
