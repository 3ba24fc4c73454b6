/* Runs a command in a pod's container, or attaches to the container's own command, for the API
 * server (node/runtime_backend.c). A pod_exec sends a request to the pod's supervisor
 * (pod/record/request.h), opens the streams to the command, and reports the end of the command. It
 * runs in the control process, on the loop thread. */
#ifndef TRAINYARD_NODE_POD_EXEC_H
#define TRAINYARD_NODE_POD_EXEC_H

#include "engine/engine.h"
#include "loop/loop.h"

struct pod_exec;

/* Sends the request and returns at once. `directory` is the directory of the pod, or NULL if the
 * pod is gone. The handler's functions are called later (engine/engine.h). `ended` gets the error
 * if the request could not be sent. The pod_exec is freed just before `ended` is called. */
struct pod_exec *pod_exec_new(struct loop *loop, const char *directory,
                              const struct engine_pod_command *command,
                              const struct engine_pod_command_handler *handler, void *context);
/* Changes the size of the terminal. Does nothing without a terminal. */
void pod_exec_resize(struct pod_exec *exec, int columns, int rows);
/* Closes the connection to the supervisor and frees the pod_exec. Must be called when the client
 * has disconnected, unless `ended` was called. The supervisor then ends a command that was started
 * by exec; the container's own command keeps running. */
void pod_exec_close(struct pod_exec *exec);

#endif
