/* Reading a container's log: which file is meant, where its last lines begin, and which part a
 * client sees. It touches only the file that it is given; log/stream.h streams to the client. */
#ifndef TRAINYARD_NODE_LOG_READ_H
#define TRAINYARD_NODE_LOG_READ_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json/json.h"
#include "node/pod/record/state.h"

/* Chooses the run whose log is meant: the current or last one, or, with `previous`, the one
 * before. Error messages are those of kubelet and kubectl. */
int node_log_choose_run(const struct container_state *state, const struct json *pod,
                        const char *container, bool previous, int64_t *ret_run, struct err *err);

/* Returns the offset at which the last *lines lines of a log file of this size begin, and leaves
 * in *lines how many are missing. An unfinished last line counts only in the newest file, because
 * otherwise the next file has the rest of it. */
int64_t node_log_tail_offset(int fd, int64_t size, bool is_newest, int64_t *lines);

/* Converts whole records to the text that the client sees. Returns the number of bytes consumed. */
size_t node_log_render(const char *data, size_t size, bool timestamps, int64_t since_ms,
                       struct buf *ret_text);

#endif
