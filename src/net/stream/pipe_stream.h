/* A stream on one end of a pipe, or on the master side of a pseudo-terminal: the connection to a
 * local program. A pipe has one direction: a read end only calls on_data and on_end; a write end
 * only takes writes, and stream_shut() closes it. A terminal has both directions and cannot be
 * closed for one alone. The process must ignore SIGPIPE. */
#ifndef TRAINYARD_NET_STREAM_PIPE_STREAM_H
#define TRAINYARD_NET_STREAM_PIPE_STREAM_H

#include "loop/loop.h"
#include "net/stream/stream.h"

/* Takes the descriptor even on failure, and makes it non-blocking. `both_ways` false: a terminal is
 * only written to, because another stream reads it. */
int pipe_stream_new(struct loop *loop, int fd, bool both_ways, struct stream **ret,
                    struct err *err);

/* The program has exited: the bytes that are in the pipe now are still delivered, then on_end
 * follows, even if another process holds the write end open. A terminal ends by itself. */
void pipe_stream_end_here(struct stream *stream);

#endif
