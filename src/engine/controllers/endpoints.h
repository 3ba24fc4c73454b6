/* The addresses behind a service. Pure; endpoints_controller.c writes them down. */
#ifndef TRAINYARD_ENGINE_ENDPOINTS_H
#define TRAINYARD_ENGINE_ENDPOINTS_H

#include "base/arena.h"
#include "base/json/json.h"

/* The `subsets` of the service's Endpoints: one for each set of ports the pods give (a named
 * targetPort may differ from pod to pod). Pods must be those the selector matches; they are sorted
 * by name here, so the same pods give the same bytes. */
struct json *endpoints_subsets(struct arena *arena, const struct json *service,
                               const struct json *const *pods, size_t count);

/* The service's ports as this pod has them; a name it has not is left out. */
struct json *endpoints_ports(struct arena *arena, const struct json *service,
                             const struct json *pod);
/* {ip, hostname, nodeName, targetRef} of the pod. */
struct json *endpoints_address(struct arena *arena, const struct json *service,
                               const struct json *pod);

#endif
