/* Makes the Status about the end of a command in a pod, with Kubernetes' messages. kubectl reads
 * the exit code from the Status. */
#ifndef TRAINYARD_ENGINE_STREAM_REMOTE_STATUS_H
#define TRAINYARD_ENGINE_STREAM_REMOTE_STATUS_H

#include "base/buf.h"
#include "engine/engine.h"

enum { REMOTE_STATUS_MAX = 128 * 1024 };

/* Appends a metav1.Status to `buf`, or, if `plain` is set, only its message, which is empty on
 * success. `err` is the reason why no command was started or why its exit code is unknown; NULL:
 * the exit code is known. For attach, the exit code of the container is not a failure. */
void remote_status_write(const struct engine_pod_command *command, int exit_code,
                         const struct err *err, bool plain, struct buf *buf);

#endif
