/* Discovery: serves /, /api, /api/v1, /apis, /apis/GROUP, /apis/GROUP/VERSION, /version and the
 * OpenAPI documents. kubectl requests these paths first. All responses except that to /version are
 * made from the registry. */
#ifndef TRAINYARD_ENGINE_OPENAPI_DISCOVERY_H
#define TRAINYARD_ENGINE_OPENAPI_DISCOVERY_H

#include "base/json/json.h"
#include "engine/kinds/registry.h"
#include "net/http/http.h"

#include <stdbool.h>

/* If the request is a GET of one of these paths, responds and returns true. Otherwise returns
 * false. */
bool discovery_handle(struct http_exchange *exchange, const struct registry *registry,
                      const char *program_version);

/* Shared by plain and aggregated discovery. discovery_verbs() returns the names of the verbs in
 * `mask`, such as ["get", "list"]. discovery_names() returns the NULL-terminated list as an
 * array. */
struct json *discovery_verbs(struct arena *arena, unsigned mask);
struct json *discovery_names(struct arena *arena, const char *const *list);

#endif
