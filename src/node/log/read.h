/* Reading a container's log: which file is meant, where its last lines begin, what of it a reader
 * sees. Pure but for the file it is given; the stream to a client is log/stream.h's. */
#ifndef TRAINYARD_NODE_LOG_READ_H
#define TRAINYARD_NODE_LOG_READ_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json/json.h"
#include "node/pod/state.h"

/* Which run's log is meant: the one under way or the last; with `previous` the one before it. An
 * error is worded as kubectl's users know it. */
int node_log_choose_run(const struct container_state *state, const struct json *pod,
                        const char *container, bool previous, int64_t *ret_run, struct err *err);

/* Where the last *lines lines of a log file of that size begin; in *lines stays how many it lacks.
 * A line that is unfinished at its end counts in the newest file only: of others the next has the
 * rest. */
int64_t node_log_tail_offset(int fd, int64_t size, bool is_newest, int64_t *lines);

/* The text of whole records as the reader sees it; returns the bytes consumed. */
size_t node_log_render(const char *data, size_t size, bool timestamps, int64_t since_ms,
                       struct buf *ret_text);

#endif
