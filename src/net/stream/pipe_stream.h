/* A stream on one end of a pipe, or on the master side of a pseudo-terminal. It connects to a local
 * program. A pipe has one direction: the stream of a read end only delivers data, and the stream of
 * a write end can only be written. stream_shut() closes a write end, so that the program reads the
 * end of its input. A terminal has both directions, which cannot be closed separately. The process
 * must ignore SIGPIPE. */
#ifndef TRAINYARD_NET_STREAM_PIPE_STREAM_H
#define TRAINYARD_NET_STREAM_PIPE_STREAM_H

#include "loop/loop.h"
#include "net/stream/stream.h"

/* Takes ownership of the descriptor, even on failure, and makes it non-blocking. If `both_ways` is
 * false, the stream of a terminal only writes; another stream reads the terminal. Returns 0 or a
 * negative error. */
int pipe_stream_new(struct loop *loop, int fd, bool both_ways, struct stream **ret,
                    struct err *err);

/* To be called when the program has exited. The bytes that are in the pipe at that time are still
 * delivered. Then on_end is called, even if another process has the write end open. Not needed for
 * a terminal, which reports its end. */
void pipe_stream_end_here(struct stream *stream);

#endif
