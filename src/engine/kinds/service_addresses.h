/* Assigns cluster addresses and node ports to services, so that no two services share one, also
 * while their writes wait for the disk. The services in the store decide which values are taken.
 * The index that is kept here only says which service to look at for a value. Therefore nothing has
 * to be undone when a write fails, and nothing leaks when a service is deleted. Must run on the
 * loop thread, in the same turn as the write that follows. */
#ifndef TRAINYARD_ENGINE_KINDS_SERVICE_ADDRESSES_H
#define TRAINYARD_ENGINE_KINDS_SERVICE_ADDRESSES_H

#include "base/json/json.h"
#include "kube/schema/field_error.h"
#include "store/store.h"

struct service_addresses;

/* Reads the addresses and ports of all services in the store. */
struct service_addresses *service_addresses_new(struct store *store);
struct service_addresses *service_addresses_free(struct service_addresses *addresses);

/* Fills in the address and the node ports of a new (`old` NULL) or changed service: the values of
 * `old`, else free ones. Adds an error for a requested value that another service has. */
void service_addresses_assign(struct service_addresses *addresses, struct field_errors *errors,
                              struct json *service, const struct json *old);

#endif
