/* A command in a pod's container, or the container's own, as the control process sees it: a request
 * to the pod's supervisor (pod/request.h), the lines to it as streams, and its end. */
#ifndef TRAINYARD_NODE_POD_EXEC_H
#define TRAINYARD_NODE_POD_EXEC_H

#include "engine/engine.h"
#include "loop/loop.h"

struct pod_exec;

/* `directory` is the pod's; NULL: it has none any more, and the handler hears so. */
struct pod_exec *pod_exec_new(struct loop *loop, const char *directory,
                              const struct engine_pod_command *command,
                              const struct engine_pod_command_handler *handler, void *context);
void pod_exec_resize(struct pod_exec *exec, int columns, int rows);
/* Nobody waits any more; the supervisor ends what it has started. */
void pod_exec_close(struct pod_exec *exec);

#endif
