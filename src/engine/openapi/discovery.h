/* What the API offers, as kubectl asks for it before anything else: /api, /apis, /version and
 * OpenAPI. All of it follows from the registry. */
#ifndef TRAINYARD_ENGINE_DISCOVERY_H
#define TRAINYARD_ENGINE_DISCOVERY_H

#include "base/json/json.h"
#include "engine/kinds/registry.h"
#include "net/http/http.h"

#include <stdbool.h>

/* Answers and returns true if the path is one of these. */
bool discovery_handle(struct http_exchange *exchange, const struct registry *registry,
                      const char *program_version);

/* What its two forms share: ["get", "list"] of a mask of verbs, and a list of names. */
struct json *discovery_verbs(struct arena *arena, unsigned mask);
struct json *discovery_names(struct arena *arena, const char *const *list);

#endif
