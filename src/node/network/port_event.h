/* Sends an event about a pod or service if a port of this machine that it needs cannot be bound. */
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

/* Sends an event about the object `about`. `why` is the errno of bind(). `then` describes what
 * happens next, such as "waiting until it is free". */
void port_event_refused(struct kube_client *client, const struct json *about,
                        const struct port_wanted *wanted, int why, const char *then);

/* Sends a Warning event for each container port of the pod that cannot be bound on the machine now,
 * at most 10 per container. Used before a pod without its own network starts. */
void port_event_check_pod(struct kube_client *client, const struct json *pod, const char *address);

#endif
