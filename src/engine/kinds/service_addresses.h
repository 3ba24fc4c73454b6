/* Assigns cluster addresses and node ports to services. No two services get the same value, even
 * while their writes wait for the disk. A value is taken if a service in the store has it; pending
 * writes count. The index in memory has, for each value, the service that got the value last. The
 * store decides whether that service still has the value. So a failed write needs no undo, and a
 * deleted service leaks no value. The functions must run on the loop thread, and
 * service_addresses_assign() in the same turn of the loop as the write of the service. */
#ifndef TRAINYARD_ENGINE_KINDS_SERVICE_ADDRESSES_H
#define TRAINYARD_ENGINE_KINDS_SERVICE_ADDRESSES_H

#include "base/json/json.h"
#include "kube/schema/field_error.h"
#include "store/store.h"

struct service_addresses;

/* Makes the index: reads the addresses and ports of all services in the store. The store must be
 * open while service_addresses_assign() is called. */
struct service_addresses *service_addresses_new(struct store *store);
/* NULL-safe; returns NULL. */
struct service_addresses *service_addresses_free(struct service_addresses *addresses);

/* Sets the values that the service needs and does not request itself: the node ports, the health
 * check port and, if the service is new (`old` is NULL) or was an ExternalName, the cluster
 * address. A port keeps the node port that it has in `old`. Adds an error to `errors` if a
 * requested value is out of range or belongs to another service, or if no value is free. */
void service_addresses_assign(struct service_addresses *addresses, struct field_errors *errors,
                              struct json *service, const struct json *old);

#endif
