/* Sends events about pods and services that need a port of this machine which cannot be bound. */
#ifndef TRAINYARD_NODE_NETWORK_PORT_EVENT_H
#define TRAINYARD_NODE_NETWORK_PORT_EVENT_H

#include "base/json/json.h"
#include "kube/client/client.h"

#include <netinet/in.h>
#include <stdint.h>

struct port_wanted {
    int type; /* SOCK_STREAM or SOCK_DGRAM */
    struct in_addr address;
    uint16_t port;
};

/* Sends a Warning event about the object `about`. `why` is the errno of bind(). `then` is the part
 * of the message that says what happens next, such as "waiting until it is free"; it is not used if
 * `why` is EACCES. */
void port_event_refused(struct kube_client *client, const struct json *about,
                        const struct port_wanted *wanted, int why, const char *then);

/* Sends a Warning event for each container port of the pod that cannot be bound at `address` now,
 * at most 10 per container. Must be called before the pod starts. Used for pods without a network
 * of their own. */
void port_event_check_pod(struct kube_client *client, const struct json *pod, const char *address);

#endif
