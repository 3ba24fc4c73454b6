/* Validation of services: of the whole, and of the addresses alone. */
#ifndef TRAINYARD_KUBE_KINDS_SERVICE_VALIDATE_H
#define TRAINYARD_KUBE_KINDS_SERVICE_VALIDATE_H

#include "kube/schema/field_error.h"

/* Whether clusterIP, clusterIPs, ipFamilies and ipFamilyPolicy can be meant together, which must be
 * so before an address is given out. */
void kube_service_validate_addresses(struct field_errors *errors, const struct json *spec);

/* The validation hook of the row. */
void kube_service_validate(struct field_errors *errors, const struct json *service,
                           const struct json *old);

#endif
