/* A command in a pod's container, or an attachment to the container's own command, as the control
 * process sees it: a request to the pod's supervisor (pod/request.h), the streams to the command,
 * and its end. */
#ifndef TRAINYARD_NODE_POD_EXEC_H
#define TRAINYARD_NODE_POD_EXEC_H

#include "engine/engine.h"
#include "loop/loop.h"

struct pod_exec;

/* `directory` is the pod's. NULL means that the pod has none any more; the handler then gets an
 * error. */
struct pod_exec *pod_exec_new(struct loop *loop, const char *directory,
                              const struct engine_pod_command *command,
                              const struct engine_pod_command_handler *handler, void *context);
void pod_exec_resize(struct pod_exec *exec, int columns, int rows);
/* Abandons the command: no client waits for it. The supervisor ends the command that it has
 * started. */
void pod_exec_close(struct pod_exec *exec);

#endif
