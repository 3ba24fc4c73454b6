/* A new TCP connection to a pod, as a stream of the control process: into the pod network, where
 * this process is not, or on the machine for pods with hostNetwork. What forwards ports stands on
 * it. */
#ifndef TRAINYARD_NODE_NETWORK_CONNECT_H
#define TRAINYARD_NODE_NETWORK_CONNECT_H

#include "loop/loop.h"
#include "net/stream/stream.h"
#include "node/node.h"

struct node_connect;

/* `stream` is the caller's, to be started and closed; NULL where the connection failed, and `err`
 * says why. It loses nothing: a peer that ends while reading is paused is noticed after all it
 * said was read. */
typedef void node_connect_done(void *context, struct stream *stream, const struct err *err);

/* Connect to a pod's address ("10.244.1.2", or a node's for hostNetwork) or a service's. `done` is
 * called once, from the loop, never from within this call; then the returned pointer is no more.
 * `space` must outlive the connecting; NULL: everything is on the machine. */
struct node_connect *node_connect_pod(struct loop *loop, struct node_namespaces *space,
                                      const char *address, int port, node_connect_done *done,
                                      void *context);
/* Connect as the pod's own programs do: to localhost in its network, where servers may listen that
 * nobody outside can reach, and only then to its own address. `directory` is the pod's; NULL: it
 * has the machine's network. */
struct node_connect *node_connect_inside(struct loop *loop, const char *directory,
                                         const char *address, int port, node_connect_done *done,
                                         void *context);
/* Give it up: `done` is not called. */
void node_connect_cancel(struct node_connect *connect);

#endif
