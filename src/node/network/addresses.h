/* Records which addresses of the pod network are in use. The pods' runners take and return
 * addresses. Node n assigns 10.244.<n+1>.1 … .254 in ascending order and then starts again at .1.
 * So a client with an outdated address rarely reaches another pod. */
#ifndef TRAINYARD_NODE_NETWORK_ADDRESSES_H
#define TRAINYARD_NODE_NETWORK_ADDRESSES_H

#include "base/err.h"
#include "node/network/pod_network.h"

#include <netinet/in.h>
#include <stdbool.h>

struct addresses {
    bool taken[POD_NETWORK_NODES_MAX][POD_NETWORK_PODS_MAX]; /* [n][i] is 10.244.<n+1>.<i+1> */
    int next[POD_NETWORK_NODES_MAX]; /* the index where the next search begins, per node */
};

/* Takes a free address of a node, and writes it to `text`. Returns -ERR_TOO_MANY if the node has no
 * free address. */
int addresses_take(struct addresses *addresses, int node, char text[INET_ADDRSTRLEN],
                   struct err *err);
/* Marks the address of a pod of an earlier run as taken. Ignores a text that is not a pod's
 * address. */
void addresses_reserve(struct addresses *addresses, const char *text);
/* Marks the address as free. Ignores a text that is not a pod's address. */
void addresses_give_back(struct addresses *addresses, const char *text);

#endif
