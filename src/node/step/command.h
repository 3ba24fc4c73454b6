/* Replaces the calling process by a command. Used to start a container's program, the commands that
 * step/exec.h runs beside it, and the command of a pipeline's step.
 *
 * execvp() is not used, because it passes a file that the kernel cannot run to /bin/sh. A program
 * for another architecture would be read as a script, and a script without a #! line would run here
 * but in no other container runtime. */
#ifndef TRAINYARD_NODE_STEP_COMMAND_H
#define TRAINYARD_NODE_STEP_COMMAND_H

#include "base/err.h"

/* Returns only on failure: -ERR_NOT_FOUND if the program, its interpreter or its dynamic loader is
 * missing, or another negative code. `err` must not be NULL; `err->sys` is the errno. */
int step_command_become(const char *const *arguments, struct err *err);

#endif
