/* Checks that the control process has enough file descriptors left to start another pod. Each pod
 * needs one while it runs, and some descriptors are reserved for clients of the API. */
#ifndef TRAINYARD_NODE_PROCESS_DESCRIPTORS_H
#define TRAINYARD_NODE_PROCESS_DESCRIPTORS_H

#include "base/err.h"

#include <stddef.h>

/* Returns 0, or -ERR_UNAVAILABLE, with advice, if no descriptor is left for another pod. `starting`
 * is the number of pods that are starting: they do not have their descriptors yet. */
int node_descriptors_check(size_t starting, struct err *err);

#endif
