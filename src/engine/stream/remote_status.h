/* The Status about the end of a command in a pod, with Kubernetes' messages. kubectl takes its exit
 * code from it. */
#ifndef TRAINYARD_ENGINE_STREAM_REMOTE_STATUS_H
#define TRAINYARD_ENGINE_STREAM_REMOTE_STATUS_H

#include "base/buf.h"
#include "engine/engine.h"

enum { REMOTE_STATUS_MAX = 128 * 1024 };

/* Writes a metav1.Status, or with `plain` a sentence, which is empty for a success. `err` says why
 * nothing was started, or is NULL. For attach, the exit code of the container is no failure. */
void remote_status_write(const struct engine_pod_command *command, int exit_code,
                         const struct err *err, bool plain, struct buf *buf);

#endif
