/* Which settings of the kernel belong to a pod's own namespaces. */
#ifndef TRAINYARD_NODE_POD_SYSCTL_NAMES_H
#define TRAINYARD_NODE_POD_SYSCTL_NAMES_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* In dots, "net.ipv4.tcp_syncookies"; those of the network only where the network is the pod's,
 * those of shared memory and its like only where that is. */
static inline bool sysctl_is_of_pod(const char *name, bool own_network, bool own_ipc)
{
    static const char *const PREFIXES[] = {"kernel.shm", "kernel.msg", "fs.mqueue."};
    if (strchr(name, '/') || strstr(name, ".."))
        return false; /* it becomes a path */
    if (str_has_prefix(name, "net."))
        return own_network;
    for (size_t i = 0; i < sizeof(PREFIXES) / sizeof(PREFIXES[0]); i++)
        if (str_has_prefix(name, PREFIXES[i]))
            return own_ipc;
    return own_ipc && str_eq(name, "kernel.sem");
}

#endif
