/* The addresses behind a service. Pure; endpoints_controller.c writes them down. */
#ifndef TRAINYARD_ENGINE_ENDPOINTS_H
#define TRAINYARD_ENGINE_ENDPOINTS_H

#include "base/arena.h"
#include "base/json.h"

/* The `subsets` of the service's Endpoints: one for each set of ports the pods give (a named
 * targetPort may differ from pod to pod). Pods must be those the selector matches; they are sorted
 * by name here, so the same pods give the same bytes. */
struct json *endpoints_subsets(struct arena *arena, const struct json *service,
                               const struct json *const *pods, size_t count);

#endif
