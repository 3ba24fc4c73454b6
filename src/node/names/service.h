/* Names in the pod network, seen from the control process: keeps the responder alive, and tells it
 * what the names of the cluster stand for when that has changed. */
#ifndef TRAINYARD_NODE_NAMES_SERVICE_H
#define TRAINYARD_NODE_NAMES_SERVICE_H

#include "kube/client/informer.h"
#include "node/process/helper.h"

struct name_service;

struct name_service_options {
    struct helper_options helper; /* its argument is the machine's resolv.conf */
    struct kube_informer *services, *endpoints;
};

struct name_service *name_service_new(struct loop *loop,
                                      const struct name_service_options *options);
/* Leaves the responder running. */
struct name_service *name_service_free(struct name_service *self);

/* A service or its endpoints have changed. */
void name_service_changed(struct name_service *self);

#endif
