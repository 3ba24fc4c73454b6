/* Keeps the process of the DNS responder running, and sends it a new table when names of the
 * cluster have changed. The node runtime owns it and calls it on the loop thread. */
#ifndef TRAINYARD_NODE_NAMES_SERVICE_H
#define TRAINYARD_NODE_NAMES_SERVICE_H

#include "kube/client/informer.h"
#include "node/process/helper.h"

struct names_service;

struct names_service_options {
    struct helper_options helper; /* `helper.argument` is the path of the machine's resolv.conf */
    struct kube_informer *services, *endpoints;
};

struct names_service *names_service_new(struct loop *loop,
                                        const struct names_service_options *options);
/* Frees the object. The process of the responder continues to run. */
struct names_service *names_service_free(struct names_service *self);

/* Schedules a new table. Must be called after a service or its endpoints have changed. */
void names_service_changed(struct names_service *self);

#endif
