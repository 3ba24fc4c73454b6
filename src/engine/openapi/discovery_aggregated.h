/* Aggregated discovery: all groups, versions and resources of /api or /apis in one answer. kubectl
 * from 1.26 on asks for it instead of one call per version. */
#ifndef TRAINYARD_ENGINE_OPENAPI_DISCOVERY_AGGREGATED_H
#define TRAINYARD_ENGINE_OPENAPI_DISCOVERY_AGGREGATED_H

#include "base/json/json.h"
#include "engine/kinds/registry.h"

/* `version` is that of APIGroupDiscoveryList: "v2" or "v2beta1". `core`: of /api, else of /apis. */
struct json *discovery_aggregate(struct arena *arena, const struct registry *registry,
                                 const char *version, bool core);

#endif
