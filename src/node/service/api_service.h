/* Makes the API a service of its own cluster: creates the Service and the Endpoints "kubernetes" in
 * namespace "default", which map 10.96.0.1:443 to the API's port in the pod network. node/runtime.c
 * calls it at the start of the server and after one of the two objects was deleted. */
#ifndef TRAINYARD_NODE_SERVICE_API_SERVICE_H
#define TRAINYARD_NODE_SERVICE_API_SERVICE_H

#include "kube/client/client.h"
#include "kube/client/shared_object.h"

/* Starts to create the objects that are missing, and returns at once. A failure is only logged. */
void node_api_service_make(struct kube_client *client);

/* Returns whether the name and namespace are those of this Service and these Endpoints. */
bool node_api_service_is(const struct kube_object *object);

#endif
