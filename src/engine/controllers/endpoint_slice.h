/* Computes the EndpointSlices of a service: at most 100 endpoints per slice, and separate slices
 * per set of ports. Pure; endpoint_slice_controller.c writes the slices. */
#ifndef TRAINYARD_ENGINE_CONTROLLERS_ENDPOINT_SLICE_H
#define TRAINYARD_ENGINE_CONTROLLERS_ENDPOINT_SLICE_H

#include "base/json/json.h"

/* Labels of slices, and the values of the label ENDPOINT_SLICE_MANAGER. ENDPOINT_SLICE_SKIP_LABEL
 * is a label of Endpoints that are not mirrored. */
#define ENDPOINT_SLICE_SERVICE    "kubernetes.io/service-name"
#define ENDPOINT_SLICE_MANAGER    "endpointslice.kubernetes.io/managed-by"
#define ENDPOINT_SLICE_OURS       "endpointslice-controller.k8s.io"
#define ENDPOINT_SLICE_MIRRORED   "endpointslicemirroring-controller.k8s.io"
#define ENDPOINT_SLICE_HEADLESS   "service.kubernetes.io/headless"
#define ENDPOINT_SLICE_SKIP_LABEL "endpointslice.kubernetes.io/skip-mirror"

enum endpoint_slice_step { ENDPOINT_SLICE_CREATE, ENDPOINT_SLICE_UPDATE, ENDPOINT_SLICE_DELETE };

struct endpoint_slice_action {
    enum endpoint_slice_step step;
    struct json *slice; /* the slice to write or to delete */
};

struct endpoint_slice_observed {
    const struct json *service;
    /* The Endpoints whose addresses are mirrored; NULL: the slices contain the addresses of the
     * pods. */
    const struct json *endpoints;
    const struct json *const *pods; /* the pods that the selector matches */
    size_t pod_count;
    /* The service's slices whose ENDPOINT_SLICE_MANAGER is ENDPOINT_SLICE_OURS, or
     * ENDPOINT_SLICE_MIRRORED if `endpoints` is given. */
    const struct json *const *slices;
    size_t slice_count;
};

/* Returns the actions in the arena; *ret_count is their number. There is no action for a slice that
 * needs no change, and an endpoint whose ports are the same stays in its slice. */
struct endpoint_slice_action *endpoint_slice_plan(struct arena *arena,
                                                  const struct endpoint_slice_observed *observed,
                                                  size_t *ret_count);

#endif
