/* Services: completes a service before the API server assigns its addresses. */
#ifndef TRAINYARD_KUBE_KINDS_SERVICE_SERVICE_H
#define TRAINYARD_KUBE_KINDS_SERVICE_SERVICE_H

#include "base/json/json.h"
#include "kube/schema/field_error.h"

/* Prepares a service before its addresses and ports are assigned. `old` is the stored service, or
 * NULL for a new one. Removes the fields that only its former type had and that the client has not
 * changed, copies clusterIP into clusterIPs, and chooses the IP families. Adds errors for addresses
 * and families that contradict each other. */
void kube_service_complete(struct field_errors *errors, struct json *service,
                           const struct json *old);

#endif
