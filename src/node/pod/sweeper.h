/* Removes what deleted pods leave on the machine: control groups, handed out files, the directory
 * with all its files. That takes tens of system calls per pod and may wait for the disk, so a
 * thread of the pool does it, one batch of pods at a time. A uid is never used twice, so no later
 * pod meets a removal that is under way. The directories that a server leaves behind, stopped or
 * killed, are removed by the next server when it starts. */
#ifndef TRAINYARD_NODE_POD_SWEEPER_H
#define TRAINYARD_NODE_POD_SWEEPER_H

#include "loop/loop.h"

#include <stdbool.h>
#include <stddef.h>

/* Pods that one item of pool work removes. Freeing the sweeper waits for at most this many. */
enum { POD_SWEEPER_BATCH = 16 };

struct pod_sweeper;

/* `plain`: pods run without namespaces (node_pod_end() in network/namespaces.h). */
struct pod_sweeper *pod_sweeper_new(struct loop *loop, const char *handout_dir, bool plain);
/* The batch under way is finished unseen; the pods behind it stay for the next start. */
struct pod_sweeper *pod_sweeper_free(struct pod_sweeper *sweeper);

enum pod_remains {
    POD_REMAINS_FILES,     /* its supervisor has ended */
    POD_REMAINS_PROCESSES, /* it may still run: end it first */
};
void pod_sweeper_add(struct pod_sweeper *sweeper, const char *uid, const char *directory,
                     enum pod_remains remains);

#endif
