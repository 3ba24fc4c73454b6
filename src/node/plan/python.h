/* A `python` for containers that see the machine's files. Programs written for container images
 * call `python`; Debian has only python3. */
#ifndef TRAINYARD_NODE_POD_PYTHON_H
#define TRAINYARD_NODE_POD_PYTHON_H

#include "base/err.h"

/* Makes the link `python` to the machine's python3 in `directory`, and the directory where it is
 * missing. Does nothing where the machine has no python3, or the link exists. The directory should
 * be the last in PATH, so that a python of the machine comes first. */
int plan_python_link(const char *directory, struct err *err);

#endif
