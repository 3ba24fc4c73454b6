/* From the openAPIV3Schema of a definition to the description that everything else reads. */
#ifndef TRAINYARD_KUBE_SCHEMA_COMPILE_H
#define TRAINYARD_KUBE_SCHEMA_COMPILE_H

#include "kube/schema/schema.h"

enum { SCHEMA_NODES_MAX = 100 * 1000 };

/* How many schemas are in it: the definition that has more than SCHEMA_NODES_MAX is refused. */
size_t schema_count_nodes(const struct json *source);

/* `source` is structural (engine/crd/definition.h checks that) and describes whole objects:
 * apiVersion, kind and metadata are known without being named. All in the arena. */
const struct schema *schema_compile(struct arena *arena, const struct json *source);

#endif
