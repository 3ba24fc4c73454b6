/* Checks that the control process has enough file descriptors left. Each pod takes some, and the
 * last ones are reserved for clients of the API. */
#ifndef TRAINYARD_NODE_PROCESS_DESCRIPTORS_H
#define TRAINYARD_NODE_PROCESS_DESCRIPTORS_H

#include "base/err.h"

#include <stddef.h>

/* Returns -ERR_UNAVAILABLE, with advice, if there is no descriptor for another pod. `promised` is
 * the number of pods that are starting. */
int node_descriptors_check(size_t promised, struct err *err);

#endif
