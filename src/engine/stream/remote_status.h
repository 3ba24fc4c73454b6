/* How a command in a pod ended, as the last word of a session says it: in the words of Kubernetes,
 * of which kubectl makes its exit code. */
#ifndef TRAINYARD_ENGINE_REMOTE_STATUS_H
#define TRAINYARD_ENGINE_REMOTE_STATUS_H

#include "base/buf.h"
#include "engine/engine.h"

enum { REMOTE_STATUS_MAX = 128 * 1024 };

/* A metav1.Status; with `plain` a sentence, and nothing for a success. `err` where nothing was
 * started. Of an attached container the end is no failure, whatever its exit code. */
void remote_status_write(const struct engine_pod_command *command, int exit_code,
                         const struct err *err, bool plain, struct buf *buf);

#endif
