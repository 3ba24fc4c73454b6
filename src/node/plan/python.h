/* A `python` command for containers that use the machine's files. Programs written for container
 * images call `python`; Debian has only python3. */
#ifndef TRAINYARD_NODE_PLAN_PYTHON_H
#define TRAINYARD_NODE_PLAN_PYTHON_H

#include "base/err.h"

/* Creates the link `python` to the machine's python3 in `directory`, and the directory if it is
 * missing. Does nothing if the machine has no python3 or the link exists. The directory should be
 * the last in PATH, so that a python of the machine comes first. */
int plan_python_link(const char *directory, struct err *err);

#endif
