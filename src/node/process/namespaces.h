/* Namespaces of processes: whose mounts a process sees, and who is who in a user namespace. */
#ifndef TRAINYARD_NODE_PROCESS_NAMESPACES_H
#define TRAINYARD_NODE_PROCESS_NAMESPACES_H

#include "base/err.h"

#include <stdint.h>
#include <sys/types.h>

/* The number of a process's mount namespace, which is its container's alone; 0 of one that is gone,
 * or not ours to look at. */
ino_t process_mount_namespace(pid_t pid);

/* One id in a user namespace, and what it is outside of it. */
struct id_map {
    int64_t inside, outside;
};
/* The only user and group of the namespace that the calling process has just made. */
int process_map_ids(struct id_map user, struct id_map group, struct err *err);

#endif
