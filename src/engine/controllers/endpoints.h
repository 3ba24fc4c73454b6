/* Computes the Endpoints of a service: the addresses of its pods. Pure. endpoints_controller.c
 * writes the Endpoints; endpoint_slice.c uses the ports and addresses. */
#ifndef TRAINYARD_ENGINE_CONTROLLERS_ENDPOINTS_H
#define TRAINYARD_ENGINE_CONTROLLERS_ENDPOINTS_H

#include "base/arena.h"
#include "base/json/json.h"

/* Returns the `subsets` of the service's Endpoints: one per set of ports, because a named
 * targetPort may differ from pod to pod. `pods` are the pods that the selector matches. Leaves
 * out pods without an address, pods that have ended, pods that are being deleted (unless
 * publishNotReadyAddresses is set) and, if the service has ports, pods with none of these ports.
 * The addresses are sorted by pod name, so that the same pods give the same bytes. */
struct json *endpoints_subsets(struct arena *arena, const struct json *service,
                               const struct json *const *pods, size_t count);

/* Returns the service's ports with the port numbers of this pod. A named port that the pod does not
 * have is left out. */
struct json *endpoints_ports(struct arena *arena, const struct json *service,
                             const struct json *pod);
/* Returns the pod's entry in the Endpoints: {ip, hostname, nodeName, targetRef}. */
struct json *endpoints_address(struct arena *arena, const struct json *service,
                               const struct json *pod);

#endif
