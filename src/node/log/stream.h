/* Streams the log of one run of a container to an API client. Converts the records of the log files
 * to lines and filters them. With the option `follow`, a stream ends when the run has ended and its
 * log was sent. Reading pauses while the client receives slowly. runtime_backend.c calls it on the
 * loop thread. */
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
/* Ends the response of every stream. */
void node_log_streams_release(struct node_log_streams *streams);

/* Answers the exchange with the log of run `run` of a container. `directory` is the pod's
 * directory. Returns at once. The stream frees itself when its response ends. */
void node_log_streams_add(struct node_log_streams *streams, struct http_exchange *exchange,
                          const char *directory, int64_t run,
                          const struct engine_pod_logs *options);

#endif
