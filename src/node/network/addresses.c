/* Assigns addresses of the pod network; see network/addresses.h. */
#include "node/network/addresses.h"

#include <arpa/inet.h>
#include <stddef.h>

int addresses_take(struct addresses *addresses, int node, char text[INET_ADDRSTRLEN],
                   struct err *err)
{
    for (int i = 0; i < POD_NETWORK_PODS_MAX; i++) {
        int pod = (addresses->next[node] + i) % POD_NETWORK_PODS_MAX;
        if (addresses->taken[node][pod])
            continue;
        addresses->taken[node][pod] = true;
        addresses->next[node] = pod + 1;
        const unsigned char octets[4] = {10, 244, (unsigned char)(node + 1),
                                         (unsigned char)(pod + 1)};
        inet_ntop(AF_INET, octets, text, INET_ADDRSTRLEN);
        return 0;
    }
    return err_set(err, ERR_TOO_MANY, "all %d addresses of the node are taken",
                   POD_NETWORK_PODS_MAX);
}

/* Returns the mark of the address, or NULL if the text is not a pod's address. */
static bool *addresses_slot(struct addresses *addresses, const char *text)
{
    struct in_addr address;
    if (!text || inet_pton(AF_INET, text, &address) != 1)
        return NULL;
    const unsigned char *octets = (const unsigned char *)&address.s_addr;
    int node = octets[2] - 1, pod = octets[3] - 1;
    if (octets[0] != 10 || octets[1] != 244 || node < 0 || node >= POD_NETWORK_NODES_MAX ||
        pod < 0 || pod >= POD_NETWORK_PODS_MAX)
        return NULL;
    return &addresses->taken[node][pod];
}

void addresses_reserve(struct addresses *addresses, const char *text)
{
    bool *taken = addresses_slot(addresses, text);
    if (taken)
        *taken = true;
}

void addresses_give_back(struct addresses *addresses, const char *text)
{
    bool *taken = addresses_slot(addresses, text);
    if (taken)
        *taken = false;
}
