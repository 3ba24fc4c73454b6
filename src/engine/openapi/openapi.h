/* Serves /openapi/v2 and /openapi/v3. kubectl uses the descriptions of fields (`kubectl explain`),
 * the parameters of paths (`--dry-run`) and the merge keys of lists (`kubectl apply`). */
#ifndef TRAINYARD_ENGINE_OPENAPI_OPENAPI_H
#define TRAINYARD_ENGINE_OPENAPI_OPENAPI_H

#include "engine/kinds/registry.h"
#include "net/http/http.h"

#include <stdbool.h>

/* If the path is that of a served OpenAPI document or of the index /openapi/v3, responds and
 * returns true. Otherwise returns false. The method must be GET. */
bool openapi_handle(struct http_exchange *exchange, const struct registry *registry,
                    const char *program_version);

#endif
