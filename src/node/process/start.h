/* Starts those modes of trainyard-step that outlive the control process and serve the whole
 * cluster, such as the holder and the service proxy. Each writes "ready" to its output, or why it
 * cannot run. */
#ifndef TRAINYARD_NODE_PROCESS_START_H
#define TRAINYARD_NODE_PROCESS_START_H

#include "base/err.h"

/* Starts the program as a child of no process and waits until it is ready; arguments[0] is the
 * program, the last is NULL. Blocks for a few milliseconds. */
int process_start_step(const char *const *arguments, struct err *err);

#endif
