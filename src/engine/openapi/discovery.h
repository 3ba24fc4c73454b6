/* Discovery: /, /api, /apis and the paths below them that list resources, /version, and OpenAPI.
 * kubectl asks for them first. All answers are made from the registry. */
#ifndef TRAINYARD_ENGINE_OPENAPI_DISCOVERY_H
#define TRAINYARD_ENGINE_OPENAPI_DISCOVERY_H

#include "base/json/json.h"
#include "engine/kinds/registry.h"
#include "net/http/http.h"

#include <stdbool.h>

/* Answers the exchange and returns true if the path is one of these. */
bool discovery_handle(struct http_exchange *exchange, const struct registry *registry,
                      const char *program_version);

/* Shared by plain and aggregated discovery: the names of a mask of verbs, such as ["get", "list"],
 * and a list of names. */
struct json *discovery_verbs(struct arena *arena, unsigned mask);
struct json *discovery_names(struct arena *arena, const char *const *list);

#endif
