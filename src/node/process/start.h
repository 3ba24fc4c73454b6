/* Starts the helpers: modes of trainyard-step that outlive the control process and serve the whole
 * cluster, such as the service proxy. A helper writes "ready" to its output, or the reason why it
 * cannot run, and then closes its output. */
#ifndef TRAINYARD_NODE_PROCESS_START_H
#define TRAINYARD_NODE_PROCESS_START_H

#include "base/err.h"

/* Starts the program and waits until it is ready, usually for a few milliseconds. The program does
 * not become a child of the caller. arguments[0] is the path of the program; the last argument is
 * NULL. Returns 0, or a negative code if the program is not ready. */
int process_start_step(const char *const *arguments, struct err *err);

#endif
