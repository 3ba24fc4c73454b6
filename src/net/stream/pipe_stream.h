/* A stream on one end of a pipe, or on the master of a terminal: a line to a program of this
 * machine. A pipe goes one way: of the read end only on_data and on_end come, to the write end only
 * writing works, and stream_shut() closes it. A terminal goes both ways, and knows no half of an
 * end. The process must ignore SIGPIPE. */
#ifndef TRAINYARD_NET_PIPE_STREAM_H
#define TRAINYARD_NET_PIPE_STREAM_H

#include "loop/loop.h"
#include "net/stream/stream.h"

/* Takes the descriptor in any case; from now on it does not block. Of a terminal that somebody else
 * reads, `both_ways` is false: then it is written to only. */
int pipe_stream_new(struct loop *loop, int fd, bool both_ways, struct stream **ret,
                    struct err *err);

/* The program has ended: what lies in the pipe now is still given, then it is the end, though
 * somebody else may hold the write end. A terminal ends by itself. */
void pipe_stream_end_here(struct stream *stream);

#endif
