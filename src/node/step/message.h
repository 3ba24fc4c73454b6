/* A container's last words: what it wrote to its terminationMessagePath, or where the pod asks for
 * it, the end of its log. Used by the pod's supervisor. */
#ifndef TRAINYARD_NODE_STEP_MESSAGE_H
#define TRAINYARD_NODE_STEP_MESSAGE_H

#include "node/pod/state.h"

/* An empty file that whoever runs in the container may write to. */
int step_message_prepare(const char *directory, const char *container, struct err *err);

/* The container has ended, and its log is complete. `run` is the log's. */
void step_message_read(const char *directory, const struct pod_container *container, int64_t run,
                       int exit_code, char ret[POD_TERMINATION_MESSAGE_MAX + 1]);

/* The last lines of the log of a run that has ended, without their times. */
void step_message_read_log(const char *directory, const char *container, int64_t run,
                           char ret[POD_TERMINATION_MESSAGE_MAX + 1]);

#endif
