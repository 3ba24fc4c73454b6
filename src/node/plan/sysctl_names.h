/* Decides which sysctls a pod may set: those of its own namespaces. The planner refuses others, and
 * trainyard-step checks again before it sets them. */
#ifndef TRAINYARD_NODE_PLAN_SYSCTL_NAMES_H
#define TRAINYARD_NODE_PLAN_SYSCTL_NAMES_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Returns whether the sysctl belongs to a namespace of the pod. Its name contains dots, as in
 * "net.ipv4.tcp_syncookies". Network sysctls belong to the pod if it has its own network, and IPC
 * sysctls if it has its own IPC namespace. */
static inline bool sysctl_is_of_pod(const char *name, bool own_network, bool own_ipc)
{
    static const char *const PREFIXES[] = {"kernel.shm", "kernel.msg", "fs.mqueue."};
    if (strchr(name, '/') || strstr(name, ".."))
        return false; /* the name becomes a path */
    if (str_has_prefix(name, "net."))
        return own_network;
    for (size_t i = 0; i < sizeof(PREFIXES) / sizeof(PREFIXES[0]); i++)
        if (str_has_prefix(name, PREFIXES[i]))
            return own_ipc;
    return own_ipc && str_eq(name, "kernel.sem");
}

#endif
