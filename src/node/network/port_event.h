/* That a port of this machine cannot be had, told on the object that wants it. */
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

/* `why`: what bind() answered. `then`: what becomes of it, "waiting until it is free". */
void port_event_refused(struct kube_client *client, const struct json *about,
                        const struct port_wanted *wanted, int why, const char *then);

/* A Warning for each port that the pod's containers name and that cannot be had on the machine
 * now: of pods without a network of their own, before they run. */
void port_event_check_pod(struct kube_client *client, const struct json *pod, const char *address);

#endif
