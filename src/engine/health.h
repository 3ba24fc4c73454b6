/* /healthz, /livez and /readyz, in the form of kube-apiserver. /healthz and /readyz fail while the
 * store takes no new objects; reads still work. /livez does not fail then, because a restart would
 * not help. */
#ifndef TRAINYARD_ENGINE_HEALTH_H
#define TRAINYARD_ENGINE_HEALTH_H

#include "net/http/http.h"
#include "store/store.h"

#include <stdbool.h>

/* The paths; ends with NULL. */
extern const char *const HEALTH_PATHS[];

/* Answers the exchange and returns true if the path is one of these. */
bool health_handle(struct http_exchange *exchange, const struct store *store);

#endif
