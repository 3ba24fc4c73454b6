/* Finds the mount namespace of a process, and maps ids in a user namespace. */
#ifndef TRAINYARD_NODE_PROCESS_NAMESPACES_H
#define TRAINYARD_NODE_PROCESS_NAMESPACES_H

#include "base/err.h"

#include <stdint.h>
#include <sys/types.h>

/* Returns the inode number of the process's mount namespace, or 0 if the process is gone or may not
 * be inspected. Each container has its own mount namespace. */
ino_t process_mount_namespace(pid_t pid);

/* One id inside a user namespace, and the same id outside. */
struct id_map {
    int64_t inside, outside;
};
/* Maps one user and one group in the user namespace that the calling process has just created, and
 * forbids setgroups() there. */
int process_map_ids(struct id_map user, struct id_map group, struct err *err);

#endif
