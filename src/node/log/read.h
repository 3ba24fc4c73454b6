/* Chooses which run's log a client gets, finds the last lines of a log file, and converts records
 * to the text for a client. Opens no files: the callers pass descriptors and data. */
#ifndef TRAINYARD_NODE_LOG_READ_H
#define TRAINYARD_NODE_LOG_READ_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json/json.h"
#include "node/pod/record/state.h"

/* Chooses the run whose log the client wants: the current run, or the latest run if the container
 * waits to be restarted. With `previous`, chooses the run that `lastState` in the pod's status
 * describes. `state` is NULL if the container has no state yet. Returns 0, or -ERR_BAD_REQUEST with
 * the text of Kubernetes, and the message of a waiting container appended. */
int node_log_choose_run(const struct container_state *state, const struct json *pod,
                        const char *container, bool previous, int64_t *ret_run, struct err *err);

/* Finds the last `*lines` lines of a log file of this size. Returns the offset of the first of
 * these lines, and sets `*lines` to the number of lines that the file lacks. An unfinished last
 * line counts only in the newest file, because the rest of the line of an older file is in the next
 * file. */
int64_t node_log_tail_offset(int fd, int64_t size, bool is_newest, int64_t *lines);

/* Converts the complete records in `data` to the text that the client sees. Leaves out records
 * before `since_ms`, and lines that are no records. Returns the number of bytes consumed. */
size_t node_log_render(const char *data, size_t size, bool timestamps, int64_t since_ms,
                       struct buf *ret_text);

#endif
