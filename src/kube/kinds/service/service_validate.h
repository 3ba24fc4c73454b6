/* Validates services: the whole object, or only its addresses. */
#ifndef TRAINYARD_KUBE_KINDS_SERVICE_SERVICE_VALIDATE_H
#define TRAINYARD_KUBE_KINDS_SERVICE_SERVICE_VALIDATE_H

#include "kube/schema/field_error.h"

/* Checks that clusterIP, clusterIPs, ipFamilies and ipFamilyPolicy are valid and do not contradict
 * each other. Runs before an address is assigned. */
void kube_service_validate_addresses(struct field_errors *errors, const struct json *spec);

/* The validation hook of the row. */
void kube_service_validate(struct field_errors *errors, const struct json *service,
                           const struct json *old);

#endif
