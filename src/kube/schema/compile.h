/* Compiles the openAPIV3Schema of a CustomResourceDefinition into a struct schema (schema.h). */
#ifndef TRAINYARD_KUBE_SCHEMA_COMPILE_H
#define TRAINYARD_KUBE_SCHEMA_COMPILE_H

#include "kube/schema/schema.h"

enum { SCHEMA_NODES_MAX = 100 * 1000 };

/* Returns the number of schemas in the source, including nested schemas. A definition with more
 * than SCHEMA_NODES_MAX schemas is rejected. */
size_t schema_count_nodes(const struct json *source);

/* Compiles the structural schema of a whole object into the arena. engine/crd/definition.h checks
 * that the schema is structural. Adds apiVersion, kind and metadata if the source lacks them. */
const struct schema *schema_compile(struct arena *arena, const struct json *source);

#endif
