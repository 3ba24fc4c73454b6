/* Provides the command `python` for containers that use the machine's files. Programs for container
 * images call `python`, but Debian has only python3. Called by the planner for pods without
 * namespaces, and by trainyard-step inside a sandbox. */
#ifndef TRAINYARD_NODE_PLAN_PYTHON_H
#define TRAINYARD_NODE_PLAN_PYTHON_H

#include "base/err.h"

/* Creates the link `python` to the machine's python3 in `directory`, and the directory if it is
 * missing. Returns 0 also if the machine has no python3 or if the link exists. The directory should
 * be the last in PATH, so that the machine's own `python` comes first. */
int plan_python_link(const char *directory, struct err *err);

#endif
