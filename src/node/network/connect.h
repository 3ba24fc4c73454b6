/* A new TCP connection to a pod, as a stream of the control process: into the pod network, in
 * which this process is not, or on the machine for pods with hostNetwork. Port forwarding uses it.
 */
#ifndef TRAINYARD_NODE_NETWORK_CONNECT_H
#define TRAINYARD_NODE_NETWORK_CONNECT_H

#include "loop/loop.h"
#include "net/stream/stream.h"
#include "node/node.h"

struct node_connect;

/* The caller starts and closes `stream`. It is NULL if the connection failed, and `err` says why.
 * No data is lost: a peer that closes while reading is paused is noticed after all its data was
 * read. */
typedef void node_connect_done(void *context, struct stream *stream, const struct err *err);

/* Connects to the address of a pod ("10.244.1.2", or a node's for hostNetwork) or of a service.
 * `done` is called once, on the loop thread, never from within this call; the returned pointer is
 * invalid afterwards. `space` must outlive the attempt; NULL means that every address is on the
 * machine. */
struct node_connect *node_connect_pod(struct loop *loop, struct node_namespaces *space,
                                      const char *address, int port, node_connect_done *done,
                                      void *context);
/* Connects as the pod's own programs do: to localhost in the pod's network, where a server may
 * listen that is unreachable from outside, and then to the pod's address. `directory` is the
 * pod's; NULL means that it uses the machine's network. */
struct node_connect *node_connect_inside(struct loop *loop, const char *directory,
                                         const char *address, int port, node_connect_done *done,
                                         void *context);
/* Abandons the attempt; `done` is not called. */
void node_connect_cancel(struct node_connect *connect);

#endif
