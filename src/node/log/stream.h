/* Streams a container's log to an API client. The records of its files are converted to lines and
 * filtered. A stream that follows ends when the container's run has ended and everything is sent.
 * If a client reads slowly, reading the file pauses. */
#ifndef TRAINYARD_NODE_LOG_STREAM_H
#define TRAINYARD_NODE_LOG_STREAM_H

#include "engine/engine.h"
#include "loop/loop.h"
#include "node/pod/record/state.h"

/* All log streams in progress. */
struct node_log_streams {
    struct loop *loop;
    struct list_head list; /* struct node_log_stream */
};

void node_log_streams_init(struct node_log_streams *streams, struct loop *loop);
/* Ends every stream. */
void node_log_streams_release(struct node_log_streams *streams);

/* Answers the exchange with the log of run `run` of a container. */
void node_log_streams_add(struct node_log_streams *streams, struct http_exchange *exchange,
                          const char *directory, int64_t run,
                          const struct engine_pod_logs *options);

#endif
