/* Aggregated discovery: all groups, versions and resources of /api or /apis in one response.
 * kubectl 1.26 and later use it instead of one request per version. */
#ifndef TRAINYARD_ENGINE_OPENAPI_DISCOVERY_AGGREGATED_H
#define TRAINYARD_ENGINE_OPENAPI_DISCOVERY_AGGREGATED_H

#include "base/json/json.h"
#include "engine/kinds/registry.h"

/* Returns the document. `version` is the version of the APIGroupDiscoveryList: "v2" or "v2beta1".
 * `core` is true for /api and false for /apis. */
struct json *discovery_aggregate(struct arena *arena, const struct registry *registry,
                                 const char *version, bool core);

#endif
