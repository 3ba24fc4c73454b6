/* The names of the pod network, as seen from the control process: keeps the responder alive, and
 * sends it a new table when names of the cluster have changed. */
#ifndef TRAINYARD_NODE_NAMES_SERVICE_H
#define TRAINYARD_NODE_NAMES_SERVICE_H

#include "kube/client/informer.h"
#include "node/process/helper.h"

struct names_service;

struct names_service_options {
    struct helper_options helper; /* its `argument` is the machine's resolv.conf */
    struct kube_informer *services, *endpoints;
};

struct names_service *names_service_new(struct loop *loop,
                                        const struct names_service_options *options);
/* Frees it; the responder keeps running. */
struct names_service *names_service_free(struct names_service *self);

/* A service or its endpoints have changed. */
void names_service_changed(struct names_service *self);

#endif
