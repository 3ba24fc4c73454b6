/* Compiles the openAPIV3Schema of a definition into a description (schema.h). */
#ifndef TRAINYARD_KUBE_SCHEMA_COMPILE_H
#define TRAINYARD_KUBE_SCHEMA_COMPILE_H

#include "kube/schema/schema.h"

enum { SCHEMA_NODES_MAX = 100 * 1000 };

/* Returns the number of schemas in the source. A definition with more than SCHEMA_NODES_MAX is
 * rejected. */
size_t schema_count_nodes(const struct json *source);

/* Compiles a structural schema (engine/crd/definition.h checks that it is one) of whole objects
 * into the arena. apiVersion, kind and metadata are added if the source does not name them. */
const struct schema *schema_compile(struct arena *arena, const struct json *source);

#endif
