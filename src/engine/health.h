/* Responds to /healthz, /livez and /readyz in the form of kube-apiserver. /healthz and /readyz fail
 * while the store accepts no new objects; reads still work. /livez does not check the store,
 * because a restart does not free a full disk. engine.c calls health_handle(). */
#ifndef TRAINYARD_ENGINE_HEALTH_H
#define TRAINYARD_ENGINE_HEALTH_H

#include "net/http/http.h"
#include "store/store.h"

#include <stdbool.h>

/* The paths of the health endpoints; ends with NULL. */
extern const char *const HEALTH_PATHS[];

/* Responds and returns true if the request is a GET of one of HEALTH_PATHS. Otherwise does nothing
 * and returns false. */
bool health_handle(struct http_exchange *exchange, const struct store *store);

#endif
