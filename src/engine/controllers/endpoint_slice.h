/* The EndpointSlices of a service: its pods, at most a hundred a slice, one set of slices for each
 * set of ports. Pure; endpoint_slice_controller.c writes them down. */
#ifndef TRAINYARD_ENGINE_ENDPOINT_SLICE_H
#define TRAINYARD_ENGINE_ENDPOINT_SLICE_H

#include "base/json/json.h"

#define ENDPOINT_SLICE_SERVICE    "kubernetes.io/service-name"
#define ENDPOINT_SLICE_MANAGER    "endpointslice.kubernetes.io/managed-by"
#define ENDPOINT_SLICE_OURS       "endpointslice-controller.k8s.io"
#define ENDPOINT_SLICE_MIRRORED   "endpointslicemirroring-controller.k8s.io"
#define ENDPOINT_SLICE_HEADLESS   "service.kubernetes.io/headless"
#define ENDPOINT_SLICE_SKIP_LABEL "endpointslice.kubernetes.io/skip-mirror"

enum endpoint_slice_step { ENDPOINT_SLICE_CREATE, ENDPOINT_SLICE_UPDATE, ENDPOINT_SLICE_DELETE };

struct endpoint_slice_action {
    enum endpoint_slice_step step;
    struct json *slice; /* as it shall be; of a deletion as it is */
};

struct endpoint_slice_observed {
    const struct json *service;
    const struct json *endpoints; /* whose addresses are mirrored; NULL: those of the pods count */
    const struct json *const *pods; /* those the selector matches */
    size_t pod_count;
    const struct json *const *slices; /* of the service, that are ours to change */
    size_t slice_count;
};

/* Returns the actions; slices that are right already are left alone, and an address stays in the
 * slice it is in. */
struct endpoint_slice_action *endpoint_slice_plan(struct arena *arena,
                                                  const struct endpoint_slice_observed *observed,
                                                  size_t *ret_count);

#endif
