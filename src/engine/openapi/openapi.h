/* /openapi/v2 and /openapi/v3: what every field means, for `kubectl explain`, what can be asked,
 * for dry runs, and how lists merge, for `kubectl apply`. */
#ifndef TRAINYARD_ENGINE_OPENAPI_H
#define TRAINYARD_ENGINE_OPENAPI_H

#include "engine/kinds/registry.h"
#include "net/http/http.h"

#include <stdbool.h>

/* Answers and returns true if the path is one of these. */
bool openapi_handle(struct http_exchange *exchange, const struct registry *registry,
                    const char *program_version);

#endif
