/* Starts the modes of trainyard-step that outlive the control process and serve the whole cluster,
 * such as the holder and the service proxy. Each mode writes "ready" to its output, or the reason
 * why it cannot run. */
#ifndef TRAINYARD_NODE_PROCESS_START_H
#define TRAINYARD_NODE_PROCESS_START_H

#include "base/err.h"

/* Starts the program detached from the caller and waits until it is ready. arguments[0] is the
 * program; the last argument is NULL. Blocks for a few milliseconds. */
int process_start_step(const char *const *arguments, struct err *err);

#endif
