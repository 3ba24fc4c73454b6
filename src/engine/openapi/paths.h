/* Writes the paths of an OpenAPI document: the operations of each resource, with their parameters
 * and responses. kubectl uses the paths to find the kind of a path, and to check whether the kind
 * supports dryRun and fieldValidation. */
#ifndef TRAINYARD_ENGINE_OPENAPI_PATHS_H
#define TRAINYARD_ENGINE_OPENAPI_PATHS_H

#include "engine/openapi/schema.h"

/* Writes the paths of one version of a resource into `paths`, and defines the types that they refer
 * to. */
void openapi_write_paths(struct openapi_types *types, const struct kube_kind *resource,
                         const char *version, struct json *paths);

#endif
