/* Makes the API a service of its own cluster: Service and Endpoints "kubernetes" in namespace
 * "default". They map 10.96.0.1:443 to the API's port in the pod network. They are created if they
 * are missing, also after a user has deleted them. */
#ifndef TRAINYARD_NODE_SERVICE_API_SERVICE_H
#define TRAINYARD_NODE_SERVICE_API_SERVICE_H

#include "kube/client/client.h"
#include "kube/client/shared_object.h"

void node_api_service_make(struct kube_client *client);

/* Whether the object is this Service or these Endpoints. */
bool node_api_service_is(const struct kube_object *object);

#endif
