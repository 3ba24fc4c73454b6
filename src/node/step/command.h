/* Become a command: what the child of the first process, of `kubectl exec` and of a pipeline's step
 * ends with.
 *
 * Not execvp(): it hands to /bin/sh what the kernel does not take. A program for another machine
 * would then be read as a script, and a script without a first line would run here and nowhere
 * else, since container runtimes refuse it. */
#ifndef TRAINYARD_NODE_STEP_COMMAND_H
#define TRAINYARD_NODE_STEP_COMMAND_H

#include "base/err.h"

/* Returns only when it failed. `err->sys` says why; a missing program is ERR_NOT_FOUND. */
int step_command_become(const char *const *arguments, struct err *err);

#endif
