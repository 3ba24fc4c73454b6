/* Opens a TCP connection to a pod as a stream of the control process. The pod network is another
 * network namespace than that of this process. Pods with hostNetwork are reached on the machine.
 * Port forwarding uses this. */
#ifndef TRAINYARD_NODE_NETWORK_CONNECT_H
#define TRAINYARD_NODE_NETWORK_CONNECT_H

#include "loop/loop.h"
#include "net/stream/stream.h"
#include "node/node.h"

struct node_connect;

/* The caller starts and closes `stream`. It is NULL if the connection failed, and `err` says why.
 * If the peer closes while reading is paused, the stream ends only after all its data was read. */
typedef void node_connect_done(void *context, struct stream *stream, const struct err *err);

/* Connects to the address of a pod ("10.244.1.2", or a node's for hostNetwork) or of a service.
 * `done` is called once, on the loop thread, never from within this call; the returned pointer is
 * invalid afterwards. `space` must outlive the attempt; NULL means that every address is on the
 * machine. */
struct node_connect *node_connect_pod(struct loop *loop, struct node_namespaces *space,
                                      const char *address, int port, node_connect_done *done,
                                      void *context);
/* Connects like a program in the pod. It first tries localhost in the pod's network, because some
 * servers listen only there, and then the pod's address. `directory` is the pod's directory. NULL
 * means that the pod uses the machine's network; then only localhost is tried. */
struct node_connect *node_connect_inside(struct loop *loop, const char *directory,
                                         const char *address, int port, node_connect_done *done,
                                         void *context);
/* Abandons the attempt; `done` is not called. */
void node_connect_cancel(struct node_connect *connect);

#endif
