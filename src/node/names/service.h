/* Names in the pod network, seen from the control process: keeps the responder alive, and tells it
 * what the names of the cluster stand for when that has changed. */
#ifndef TRAINYARD_NODE_NAMES_SERVICE_H
#define TRAINYARD_NODE_NAMES_SERVICE_H

#include "kube/client/informer.h"
#include "node/process/helper.h"

struct names_service;

struct names_service_options {
    struct helper_options helper; /* its argument is the machine's resolv.conf */
    struct kube_informer *services, *endpoints;
};

struct names_service *names_service_new(struct loop *loop,
                                        const struct names_service_options *options);
/* Leaves the responder running. */
struct names_service *names_service_free(struct names_service *self);

/* A service or its endpoints have changed. */
void names_service_changed(struct names_service *self);

#endif
