/* Runs a command in a pod's container, or attaches to the container's own command, for the control
 * process. It sends a request to the pod's supervisor (pod/record/request.h), opens the streams to
 * the command, and reports the end of the command. */
#ifndef TRAINYARD_NODE_POD_EXEC_H
#define TRAINYARD_NODE_POD_EXEC_H

#include "engine/engine.h"
#include "loop/loop.h"

struct pod_exec;

/* `directory` is the pod's directory. If it is NULL, because the pod is gone, the handler gets an
 * error. */
struct pod_exec *pod_exec_new(struct loop *loop, const char *directory,
                              const struct engine_pod_command *command,
                              const struct engine_pod_command_handler *handler, void *context);
void pod_exec_resize(struct pod_exec *exec, int columns, int rows);
/* Must be called when the client has disconnected. The supervisor then ends an exec command that
 * still runs; a container's own command keeps running. */
void pod_exec_close(struct pod_exec *exec);

#endif
