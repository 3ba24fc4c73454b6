/* Starting those modes of trainyard-step that outlive the control process and belong to the cluster
 * as a whole: the holder and the service proxy. Each says "ready" on its output when it is, or why
 * it cannot be. */
#ifndef TRAINYARD_NODE_PROCESS_START_H
#define TRAINYARD_NODE_PROCESS_START_H

#include "base/err.h"

/* Start it as nobody's child and wait for its word; arguments[0] is the program, the last is NULL.
 * Blocks for the few milliseconds this takes. */
int process_start_step(const char *const *arguments, struct err *err);

#endif
