/* Opens a TCP connection to a pod as a stream of the control process, which is not in the pod
 * network. Pods with hostNetwork are reached in the machine's network. Port forwarding and the
 * proxy of the API server use it through runtime_backend.c. All functions must be called on the
 * loop thread. */
#ifndef TRAINYARD_NODE_NETWORK_CONNECT_H
#define TRAINYARD_NODE_NETWORK_CONNECT_H

#include "loop/loop.h"
#include "net/stream/stream.h"
#include "node/node.h"

struct node_connect;

/* The callee starts and closes `stream`. If the connection failed, `stream` is NULL, and `err` says
 * why. If the peer closes while reading is paused, the stream ends only after all its data was
 * read. */
typedef void node_connect_done(void *context, struct stream *stream, const struct err *err);

/* Connects like a program in the pod. First tries localhost in the pod's network, because some
 * servers listen only on localhost, and then the pod's address. `directory` is the pod's directory.
 * NULL means that the pod uses the machine's network; then only localhost is tried. `address` is
 * the pod's address, or NULL if it has none yet. Starts the attempt and returns at once. `done` is
 * called once, never from within this call; the returned pointer is invalid afterwards. */
struct node_connect *node_connect_inside(struct loop *loop, const char *directory,
                                         const char *address, int port, node_connect_done *done,
                                         void *context);
/* Abandons the attempt; `done` is not called. */
void node_connect_cancel(struct node_connect *connect);

#endif
