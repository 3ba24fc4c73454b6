/* The Node objects that stand for this machine: registered, labelled, kept Ready. Labels, taints
 * and cordons that people set are theirs and stay. */
#ifndef TRAINYARD_NODE_NODE_OBJECT_H
#define TRAINYARD_NODE_NODE_OBJECT_H

#include "kube/client/client.h"
#include "loop/loop.h"
#include "node/node.h"
#include "node/node_pressure.h"

/* "127.0.0.<n+1>": where pods with hostNetwork are reached. */
const char *node_object_address(struct arena *arena, int node);

/* A Node as it is created. */
struct json *node_object_make(struct arena *arena, const char *name, int node,
                              const struct node_size *size);

/* What the status of all nodes of this machine tells. */
struct node_condition {
    struct node_size size;
    int gpus;
    struct node_pressure pressure;
    const char *plain;       /* why pods have no namespaces here, or NULL */
    const char *not_ready;   /* why no pod can be started now, or NULL: the nodes are Ready */
    int64_t ready_change_ms; /* when the nodes became Ready, or ceased to be */
};
struct json *node_object_status(struct arena *arena, const char *name, int node,
                                const struct node_condition *condition, int64_t now_ms);

/* Registers the nodes, each of this size and with all the GPUs and images of the machine, and keeps
 * their heartbeat until it is freed. The texts are the caller's to keep. */
struct node_registrar;
struct node_registrar *node_registrar_new(struct loop *loop, struct kube_client *client,
                                          const char *state_dir, const char *const *names,
                                          const struct node_size *size, int gpus,
                                          const char *plain);
/* From now on the nodes are not Ready, because pods get no network for the reason given; NULL: they
 * are again. Sent at once, with an event about each node. `why` must live as long as the process.
 */
void node_registrar_set_network_down(struct node_registrar *registrar, const char *why);
struct node_registrar *node_registrar_free(struct node_registrar *registrar);

#endif
