/* The custom resources of a cluster: what the store has of definitions, in the registry. A
 * definition is served from the moment it is on disk, and until it is gone from there. */
#ifndef TRAINYARD_ENGINE_DEFINITIONS_H
#define TRAINYARD_ENGINE_DEFINITIONS_H

#include "engine/kinds/registry.h"
#include "store/store.h"

struct definitions;

/* The resource with this storage name is no longer served. */
typedef void definitions_retired(void *context, const char *storage);

/* Reads what is there. */
int definitions_new(struct store *store, struct registry *registry, definitions_retired *on_retired,
                    void *context, struct definitions **ret, struct err *err);
struct definitions *definitions_free(struct definitions *definitions);

#endif
