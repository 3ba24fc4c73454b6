/* The custom resources of a cluster: updates the registry when a definition (a
 * CustomResourceDefinition) in the store changes. The server serves a custom resource as long as
 * its definition on disk can be read and definition_rows() returns rows for it, unless a built-in
 * kind has the same name. engine.c calls these functions on the loop thread. */
#ifndef TRAINYARD_ENGINE_CRD_DEFINITIONS_H
#define TRAINYARD_ENGINE_CRD_DEFINITIONS_H

#include "engine/kinds/registry.h"
#include "store/store.h"

struct definitions;

/* Called on the loop thread when the resource with this storage name is no longer served. Also
 * called for a resource that is not served when definitions_new() reads its definition, and when
 * its definition changes. */
typedef void definitions_retired(void *context, const char *storage);

/* Serves the custom resources of all definitions in the store, and watches the store for changes.
 * `registry` must outlive *ret. `store` may be closed before *ret is freed. */
int definitions_new(struct store *store, struct registry *registry, definitions_retired *on_retired,
                    void *context, struct definitions **ret, struct err *err);
/* Stops the watch. The registry keeps its rows. Returns NULL. */
struct definitions *definitions_free(struct definitions *definitions);

#endif
