/* Which cluster address and which node ports a service has: given out so that no two services have
 * the same, also while their writes wait for the disk. The objects in the store are the truth; what
 * is kept here only says where to look for who has a value, so nothing has to be undone when a
 * write fails and nothing leaks when a service goes. Used on the loop's thread, within one step
 * with the write that follows. */
#ifndef TRAINYARD_ENGINE_SERVICE_ADDRESSES_H
#define TRAINYARD_ENGINE_SERVICE_ADDRESSES_H

#include "base/json/json.h"
#include "kube/schema/field_error.h"
#include "store/store.h"

struct service_addresses;

/* Learns what the services in the store have. */
struct service_addresses *service_addresses_new(struct store *store);
struct service_addresses *service_addresses_free(struct service_addresses *addresses);

/* Give a new (`old` NULL) or changed service what it leaves open: from `old` what it had, else a
 * free value. What it asks for and somebody else has is an error of the field. */
void service_addresses_assign(struct service_addresses *addresses, struct field_errors *errors,
                              struct json *service, const struct json *old);

#endif
