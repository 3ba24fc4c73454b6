/* Reports, on the object that wants it, that a port of this machine cannot be bound. */
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

/* `why` is the errno of bind(). `then` says what happens next, "waiting until it is free". */
void port_event_refused(struct kube_client *client, const struct json *about,
                        const struct port_wanted *wanted, int why, const char *then);

/* For a pod without a network of its own, before it runs: sends a Warning event for each of its
 * container ports that cannot be bound on the machine now. */
void port_event_check_pod(struct kube_client *client, const struct json *pod, const char *address);

#endif
