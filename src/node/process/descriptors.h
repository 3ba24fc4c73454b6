/* Room among the file descriptors of the control process: each pod takes some, and the last ones
 * are kept for those who ask the API. */
#ifndef TRAINYARD_NODE_PROCESS_DESCRIPTORS_H
#define TRAINYARD_NODE_PROCESS_DESCRIPTORS_H

#include "base/err.h"

#include <stddef.h>

/* ERR_UNAVAILABLE when there is none for another pod, with the way out. `promised` are those that
 * pods on their way will take. */
int node_descriptors_check(size_t promised, struct err *err);

#endif
