/* One PID namespace for all containers of a pod (shareProcessNamespace). Its first process is a
 * helper that only reaps orphans; the containers' processes live beside it and see each other. The
 * end of a container does not end this namespace, so the remaining processes of a container are
 * found by their mount namespace. The seccomp filter prevents a process from changing its mount
 * namespace. In an Unconfined container a process with the right to mount can change its mount
 * namespace; such a process ends with the pod, not with its container. */
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
 * `mount_point`. Returns a negative code on failure. */
pid_t step_share_fork(struct step_share *share, const char *mount_point, struct err *err);

/* Must be called when a child of the supervisor has exited. Returns true if it was the first
 * process; no process of the namespace is left then. */
bool step_share_reaped(struct step_share *share, pid_t pid);

/* Returns a descriptor of the caller's mount namespace, by which its container is recognized, or
 * -1. While the descriptor is open, the kernel gives the namespace's number to no other container.
 */
int step_share_mark(void);
/* Kills the remaining processes of the container with this mark, and waits some seconds for their
 * end. */
void step_share_sweep(int mark_fd);

#endif
