/* The paths of an OpenAPI document: what can be asked of each resource, with which parameters, and
 * what is answered. kubectl looks here whether a kind takes dryRun and fieldValidation, and which
 * kind a path is about. */
#ifndef TRAINYARD_ENGINE_OPENAPI_PATHS_H
#define TRAINYARD_ENGINE_OPENAPI_PATHS_H

#include "engine/openapi/schema.h"

/* Those of one version of a resource, into `paths`; the types they speak of become known. */
void openapi_write_paths(struct openapi_types *types, const struct kube_kind *resource,
                         const char *version, struct json *paths);

#endif
