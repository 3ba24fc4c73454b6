/* A container's log as the API gives it out: the records of its file turned into lines, filtered,
 * and followed until the container's run has ended and everything was sent. A slow reader slows the
 * reading, nothing is buffered for it. */
#ifndef TRAINYARD_NODE_LOG_STREAM_H
#define TRAINYARD_NODE_LOG_STREAM_H

#include "engine/engine.h"
#include "loop/loop.h"
#include "node/pod/state.h"

/* All streams under way. */
struct node_log_streams {
    struct loop *loop;
    struct list_head list; /* struct node_log_stream */
};

void node_log_streams_init(struct node_log_streams *streams, struct loop *loop);
/* Ends every stream. */
void node_log_streams_release(struct node_log_streams *streams);

/* Answer with the log of the run `run` of a container. */
void node_log_streams_add(struct node_log_streams *streams, struct http_exchange *exchange,
                          const char *directory, int64_t run,
                          const struct engine_pod_logs *options);

#endif
