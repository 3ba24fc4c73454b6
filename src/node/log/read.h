/* Chooses the run of a container's log, finds its last lines, and converts records to the text for
 * a client. It reads only from descriptors and memory of the caller; log/stream.h streams to the
 * client. */
#ifndef TRAINYARD_NODE_LOG_READ_H
#define TRAINYARD_NODE_LOG_READ_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json/json.h"
#include "node/pod/record/state.h"

/* Chooses the run whose log is meant: the current or last run, or, with `previous`, the run before
 * it. Error messages are those of kubelet and kubectl. */
int node_log_choose_run(const struct container_state *state, const struct json *pod,
                        const char *container, bool previous, int64_t *ret_run, struct err *err);

/* Finds the last `*lines` lines of a log file of this size. Returns the offset of the first of
 * them, and sets `*lines` to the number of lines that the file lacks. An unfinished last line
 * counts only in the newest file, because otherwise the next file contains the rest of that line.
 */
int64_t node_log_tail_offset(int fd, int64_t size, bool is_newest, int64_t *lines);

/* Converts whole records to the text that the client sees. Returns the number of bytes consumed. */
size_t node_log_render(const char *data, size_t size, bool timestamps, int64_t since_ms,
                       struct buf *ret_text);

#endif
