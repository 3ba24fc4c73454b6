/* What is refused of the addresses of a service; the rest is the hook kind_service_validate(). */
#ifndef TRAINYARD_ENGINE_SERVICE_VALIDATE_H
#define TRAINYARD_ENGINE_SERVICE_VALIDATE_H

#include "kube/schema/field_error.h"

/* Whether clusterIP, clusterIPs, ipFamilies and ipFamilyPolicy can be meant together, which must be
 * so before an address is given out. */
void kind_service_validate_addresses(struct field_errors *errors, const struct json *spec);

#endif
