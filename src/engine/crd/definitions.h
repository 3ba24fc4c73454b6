/* The custom resources of a cluster: keeps the registry in step with the definitions in the store.
 * A definition is served from the moment it is on disk until it is removed from there. */
#ifndef TRAINYARD_ENGINE_CRD_DEFINITIONS_H
#define TRAINYARD_ENGINE_CRD_DEFINITIONS_H

#include "engine/kinds/registry.h"
#include "store/store.h"

struct definitions;

/* The resource with this storage name is no longer served. */
typedef void definitions_retired(void *context, const char *storage);

/* Serves all definitions in the store, and follows their changes. `on_retired` is called on the
 * loop thread. */
int definitions_new(struct store *store, struct registry *registry, definitions_retired *on_retired,
                    void *context, struct definitions **ret, struct err *err);
struct definitions *definitions_free(struct definitions *definitions);

#endif
