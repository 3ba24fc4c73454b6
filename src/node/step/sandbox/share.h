/* One PID namespace for all containers of a pod (shareProcessNamespace). Its first process is ours
 * and does nothing but reap what has lost its parent; the containers' processes live beside it and
 * see each other. A container that ends no longer takes a namespace of its own along, so what it
 * leaves behind is found by its mounts. The seccomp filter keeps its processes from getting others;
 * one of an Unconfined container that may mount can, and then ends with the pod. */
#ifndef TRAINYARD_NODE_STEP_SHARE_H
#define TRAINYARD_NODE_STEP_SHARE_H

#include "base/err.h"

#include <stdbool.h>
#include <sys/types.h>

struct step_share {
    pid_t pid; /* of the namespace's first process, a child of the supervisor; 0: none yet */
};

/* fork(), but the child lives in the shared namespace, with mounts of its own. The first process is
 * started if there is none; `mount_point` is an empty directory. Negative: err says why. */
pid_t step_share_fork(struct step_share *share, const char *mount_point, struct err *err);

/* A child of the supervisor has ended; true if it was the first process: nothing of the namespace
 * is left then. */
bool step_share_reaped(struct step_share *share, pid_t pid);

/* The caller's mount namespace, by which its container is known; -1: cannot be told. As long as the
 * descriptor is open the namespace's number is given to no other container. */
int step_share_mark(void);
/* End what still runs of the container of that mark, and wait for it, two seconds at most. */
void step_share_sweep(int mark_fd);

#endif
