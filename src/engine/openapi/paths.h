/* The paths of an OpenAPI document: the operations of each resource, their parameters and answers.
 * kubectl reads here whether a kind takes dryRun and fieldValidation, and which kind a path is
 * about. */
#ifndef TRAINYARD_ENGINE_OPENAPI_PATHS_H
#define TRAINYARD_ENGINE_OPENAPI_PATHS_H

#include "engine/openapi/schema.h"

/* Writes the paths of one version of a resource into `paths`, and defines the types that they refer
 * to. */
void openapi_write_paths(struct openapi_types *types, const struct kube_kind *resource,
                         const char *version, struct json *paths);

#endif
