/* Defines the addresses of the pod network, a private network behind a bridge. All clusters can use
 * the same addresses, because each has its own network namespace. The pods of node n have
 * addresses in 10.244.<n+1>.0/24. */
#ifndef TRAINYARD_NODE_NETWORK_POD_NETWORK_H
#define TRAINYARD_NODE_NETWORK_POD_NETWORK_H

#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>

#define POD_NETWORK_BRIDGE  "ty0"
#define POD_NETWORK         "10.244.0.0" /* and POD_NETWORK_PREFIX */
#define POD_NETWORK_GATEWAY "10.244.0.1"

/* The addresses of services. The API assigns them (engine/kinds/service_addresses.h), and the
 * service proxy serves them. The first one belongs to the API. */
#define POD_NETWORK_SERVICES    "10.96.0.0"
#define POD_NETWORK_API_SERVICE "10.96.0.1"

enum {
    POD_NETWORK_PREFIX = 16,
    POD_NETWORK_SERVICES_PREFIX = 16,
    POD_NETWORK_API_PORT = 6443, /* the port of the API on the gateway */
    POD_NETWORK_NODES_MAX = 254,
    POD_NETWORK_PODS_MAX = 254, /* per node */
};

/* Returns true for an address in POD_NETWORK, which has the pods and the gateway, but not the
 * services. */
static inline bool pod_network_has(struct in_addr address)
{
    return (ntohl(address.s_addr) & 0xffff0000) == 0x0af40000; /* 10.244.0.0/16 */
}

/* Returns true for an address in POD_NETWORK except the gateway's. */
static inline bool pod_network_has_pod(struct in_addr address)
{
    return pod_network_has(address) && ntohl(address.s_addr) != 0x0af40001; /* not the gateway */
}

static inline bool pod_network_has_service(struct in_addr address)
{
    return (ntohl(address.s_addr) & 0xffff0000) == 0x0a600000; /* 10.96.0.0/16 */
}

/* Derives a pod's MAC address from its IP address. So a cached ARP entry stays valid when a new pod
 * gets the IP address of an earlier pod. */
static inline void pod_network_mac(struct in_addr address, unsigned char mac[6])
{
    mac[0] = 0x02; /* locally administered */
    mac[1] = 0x74;
    memcpy(mac + 2, &address.s_addr, 4);
}

#endif
