/* Replaces the calling process by a command. The child of a sandbox's first process, the child of
 * `kubectl exec` and a pipeline's step end with it.
 *
 * execvp() is not used, because it passes a file that the kernel cannot run to /bin/sh. A program
 * for another architecture would be read as a script, and a script without a #! line would run
 * here but in no other container runtime. */
#ifndef TRAINYARD_NODE_STEP_COMMAND_H
#define TRAINYARD_NODE_STEP_COMMAND_H

#include "base/err.h"

/* Returns only on failure. `err->sys` says why; a missing program is -ERR_NOT_FOUND. */
int step_command_become(const char *const *arguments, struct err *err);

#endif
