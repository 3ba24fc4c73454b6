/* The custom resources of a cluster: updates the registry when definitions
 * (CustomResourceDefinitions) in the store change. A custom resource is served as soon as its
 * definition is established and on disk, until the definition is removed from the disk. */
#ifndef TRAINYARD_ENGINE_CRD_DEFINITIONS_H
#define TRAINYARD_ENGINE_CRD_DEFINITIONS_H

#include "engine/kinds/registry.h"
#include "store/store.h"

struct definitions;

/* Called on the loop thread when the resource with this storage name is no longer served. */
typedef void definitions_retired(void *context, const char *storage);

/* Serves all definitions in the store, and watches the store for changes. */
int definitions_new(struct store *store, struct registry *registry, definitions_retired *on_retired,
                    void *context, struct definitions **ret, struct err *err);
struct definitions *definitions_free(struct definitions *definitions);

#endif
