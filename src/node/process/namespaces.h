/* Finds the mount namespace of a process, and maps user and group IDs in a new user namespace. Used
 * by trainyard-step for sandboxes, and by the control process to measure usage and to create the
 * cluster's user namespace. */
#ifndef TRAINYARD_NODE_PROCESS_NAMESPACES_H
#define TRAINYARD_NODE_PROCESS_NAMESPACES_H

#include "base/err.h"

#include <stdint.h>
#include <sys/types.h>

/* Returns the inode number of the process's mount namespace, or 0 if the process is gone or the
 * caller may not inspect it. Each container has its own mount namespace, unless the pod runs
 * without namespaces. */
ino_t process_mount_namespace(pid_t pid);

/* A user or group ID inside a user namespace, and the ID outside that it stands for. */
struct id_map {
    int64_t inside, outside;
};
/* Maps one user ID and one group ID in the user namespace that the calling process has just
 * created, and forbids setgroups() there. Returns 0, or a negative code. */
int process_map_ids(struct id_map user, struct id_map group, struct err *err);

#endif
