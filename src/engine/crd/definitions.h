/* The custom resources of a cluster: updates the registry when a definition (a
 * CustomResourceDefinition) in the store changes. The server serves a custom resource as long as
 * the newest version of its definition on disk can be read, is established and serves a version;
 * see definition_rows(). engine.c calls these functions on the loop thread. */
#ifndef TRAINYARD_ENGINE_CRD_DEFINITIONS_H
#define TRAINYARD_ENGINE_CRD_DEFINITIONS_H

#include "engine/kinds/registry.h"
#include "store/store.h"

struct definitions;

/* Called on the loop thread when the resource with this storage name is no longer served. Also
 * called when its definition changes while the resource is not served. */
typedef void definitions_retired(void *context, const char *storage);

/* Serves the custom resources of all definitions in the store, and watches the store for changes.
 * `registry` must outlive *ret. `store` may be closed before *ret is freed. */
int definitions_new(struct store *store, struct registry *registry, definitions_retired *on_retired,
                    void *context, struct definitions **ret, struct err *err);
/* Stops the watch. The registry keeps its rows. Returns NULL. */
struct definitions *definitions_free(struct definitions *definitions);

#endif
