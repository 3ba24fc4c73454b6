/* Which addresses of the pod network are taken: node n gives out 10.244.<n+1>.1 … .254, the one
 * free longest first, so that a name somebody still remembers does not lead to a stranger. */
#ifndef TRAINYARD_NODE_NETWORK_ADDRESSES_H
#define TRAINYARD_NODE_NETWORK_ADDRESSES_H

#include "base/err.h"
#include "node/network/pod_network.h"

#include <netinet/in.h>
#include <stdbool.h>

struct addresses {
    bool taken[POD_NETWORK_NODES_MAX][POD_NETWORK_PODS_MAX];
    int next[POD_NETWORK_NODES_MAX]; /* where the search goes on */
};

/* ERR_TOO_MANY when the node has none left. */
int addresses_take(struct addresses *addresses, int node, char text[INET_ADDRSTRLEN],
                   struct err *err);
/* Mark one that a pod of an earlier run has; text that is no address of ours is ignored. */
void addresses_reserve(struct addresses *addresses, const char *text);
void addresses_give_back(struct addresses *addresses, const char *text);

#endif
