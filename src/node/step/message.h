/* Reads a container's termination message: the content of its terminationMessagePath, or, with the
 * policy FallbackToLogsOnError, the end of its log. Used by the pod's supervisor. */
#ifndef TRAINYARD_NODE_STEP_MESSAGE_H
#define TRAINYARD_NODE_STEP_MESSAGE_H

#include "node/pod/record/state.h"

/* Creates the container's message file (pod_message_path()). The file is empty, and every user in
 * the container may write to it. */
int step_message_prepare(const char *directory, const char *container, struct err *err);

/* Reads the message. Must be called after the container has ended and its log is complete. `run` is
 * the restart count of the run whose log is read. `ret` is "" if there is no message. */
void step_message_read(const char *directory, const struct pod_container *container, int64_t run,
                       int exit_code, char ret[POD_TERMINATION_MESSAGE_MAX + 1]);

/* Reads the last lines of the log of an ended run, as the program wrote them. `ret` is "" if there
 * are none. */
void step_message_read_log(const char *directory, const char *container, int64_t run,
                           char ret[POD_TERMINATION_MESSAGE_MAX + 1]);

#endif
