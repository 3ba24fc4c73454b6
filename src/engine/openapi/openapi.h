/* /openapi/v2 and /openapi/v3. kubectl reads there what fields mean (`kubectl explain`), which
 * parameters a path takes (dry runs), and how lists merge (`kubectl apply`). */
#ifndef TRAINYARD_ENGINE_OPENAPI_OPENAPI_H
#define TRAINYARD_ENGINE_OPENAPI_OPENAPI_H

#include "engine/kinds/registry.h"
#include "net/http/http.h"

#include <stdbool.h>

/* Answers the exchange and returns true if the path is one of these. */
bool openapi_handle(struct http_exchange *exchange, const struct registry *registry,
                    const char *program_version);

#endif
