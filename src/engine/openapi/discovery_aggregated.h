/* Discovery in one answer: all groups, versions and resources of /api or /apis, which kubectl from
 * 1.26 on asks for in place of a call a version. */
#ifndef TRAINYARD_ENGINE_DISCOVERY_AGGREGATED_H
#define TRAINYARD_ENGINE_DISCOVERY_AGGREGATED_H

#include "base/json/json.h"
#include "engine/kinds/registry.h"

/* `version` is that of the answer's form: "v2", "v2beta1"; `core`: /api, else /apis. */
struct json *discovery_aggregate(struct arena *arena, const struct registry *registry,
                                 const char *version, bool core);

#endif
