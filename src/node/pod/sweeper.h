/* Removes what deleted pods leave on the machine: control groups, files in the handout directory
 * (plan/kubeconfig.h), the pod's directory, and, with POD_REMAINS_PROCESSES, the pod's processes.
 * The runners and node/runtime_pods.c use it on the loop thread. A removal takes tens of system
 * calls and may wait for the disk, so a thread of the pool does it, one batch of pods at a time. A
 * uid is never used twice, so a removal in progress cannot affect a later pod. If the server stops
 * before a removal, the next server does it when it starts. */
#ifndef TRAINYARD_NODE_POD_SWEEPER_H
#define TRAINYARD_NODE_POD_SWEEPER_H

#include "loop/loop.h"

#include <stdbool.h>
#include <stddef.h>

/* The number of pods per batch. loop_free() waits for at most one batch. */
enum { POD_SWEEPER_BATCH = 16 };

struct pod_sweeper;

/* `plain` means that pods run without namespaces. It is passed to node_pod_end(). */
struct pod_sweeper *pod_sweeper_new(struct loop *loop, const char *handout_dir, bool plain);
/* Frees the sweeper and returns at once. The batch in progress continues. The next server removes
 * the pods that are still in the queue. */
struct pod_sweeper *pod_sweeper_free(struct pod_sweeper *sweeper);

enum pod_remains {
    POD_REMAINS_FILES,     /* the supervisor has ended */
    POD_REMAINS_PROCESSES, /* the supervisor may still run and is ended first */
};
/* Queues a pod for removal. A failure is only logged. */
void pod_sweeper_add(struct pod_sweeper *sweeper, const char *uid, const char *directory,
                     enum pod_remains remains);

#endif
