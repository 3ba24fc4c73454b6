/* Compiles the openAPIV3Schema of a CustomResourceDefinition into a struct schema (schema.h).
 * engine/crd calls it for each version of a definition. */
#ifndef TRAINYARD_KUBE_SCHEMA_COMPILE_H
#define TRAINYARD_KUBE_SCHEMA_COMPILE_H

#include "kube/schema/schema.h"

enum { SCHEMA_NODES_MAX = 100 * 1000 };

/* Returns the number of schemas in the source, including nested schemas. engine/crd rejects a
 * source with more than SCHEMA_NODES_MAX schemas. */
size_t schema_count_nodes(const struct json *source);

/* Compiles the structural schema of a whole object into the arena. The caller must have checked
 * that the schema is structural (engine/crd/definition.h). Adds apiVersion and kind if the source
 * lacks them. The field metadata always has the type TYPE_OBJECT_META. Cannot fail. */
const struct schema *schema_compile(struct arena *arena, const struct json *source);

#endif
