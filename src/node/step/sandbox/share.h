/* Makes one PID namespace for all containers of a pod (shareProcessNamespace). The first process of
 * the namespace only reaps orphans. The processes of all containers are in the namespace too and
 * see each other. The end of a container does not end this namespace, so the remaining processes of
 * a container are found by their mount namespace. The seccomp filter prevents a process from
 * changing its mount namespace. In an Unconfined container a process with the right to mount can
 * change its mount namespace; such a process ends with the pod, not with its container. */
#ifndef TRAINYARD_NODE_STEP_SANDBOX_SHARE_H
#define TRAINYARD_NODE_STEP_SANDBOX_SHARE_H

#include "base/err.h"

#include <stdbool.h>
#include <sys/types.h>

struct step_share {
    pid_t pid; /* the namespace's first process, a child of the supervisor; or 0 */
};

/* Like fork(), but the child is in the shared namespace and has mounts of its own. Starts the
 * namespace's first process if there is none; that process mounts its empty root at the directory
 * `mount_point`. Returns -1 on failure. */
pid_t step_share_fork(struct step_share *share, const char *mount_point, struct err *err);

/* Must be called when a child of the supervisor has been reaped. Returns true if it was the first
 * process of the namespace; no process of the namespace is left then. */
bool step_share_reaped(struct step_share *share, pid_t pid);

/* Returns the mark of the caller's container: a descriptor of its mount namespace, by which
 * step_share_sweep() recognizes the processes of the container. Returns -1 on failure. While the
 * descriptor is open, the kernel gives the namespace's number to no other container. */
int step_share_mark(void);
/* Kills the remaining processes of the container with this mark, and waits some seconds for their
 * end. */
void step_share_sweep(int mark_fd);

#endif
