/* The Node objects of this machine. The registrar creates them, sets trainyard's labels and
 * annotations, and reports their status. It changes no other labels, and no taints or cordons. The
 * node runtime owns the registrar. */
#ifndef TRAINYARD_NODE_NODE_OBJECT_H
#define TRAINYARD_NODE_NODE_OBJECT_H

#include "kube/client/client.h"
#include "loop/loop.h"
#include "node/node.h"
#include "node/node_pressure.h"

/* Returns the address of node number `node`, "127.0.0.<node+1>". The node's pods with hostNetwork
 * have the same address. */
const char *node_object_address(struct arena *arena, int node);

/* Returns the Node object to create. */
struct json *node_object_make(struct arena *arena, const char *name, int node,
                              const struct node_size *size);

/* The facts that the status of every node of this machine reports. */
struct node_condition {
    struct node_size size; /* the resources that each node offers */
    int gpus;              /* the number of GPUs that each node offers */
    struct node_pressure pressure;
    const char *plain;       /* the reason why pods have no namespaces; NULL if they have them */
    const char *not_ready;   /* the reason why no pod can start now; NULL if the nodes are Ready */
    int64_t ready_change_ms; /* the wall time of the last change between Ready and not Ready, or of
                                the start */
};
/* Returns the status of node number `node`, without `images`. */
struct json *node_object_status(struct arena *arena, const char *name, int node,
                                const struct node_condition *condition, int64_t now_ms);

/* Registers the nodes and sends their heartbeats until the registrar is freed. Each node offers
 * `size`, `gpus` GPUs and all images of the machine. `names` ends with NULL. `plain` is the reason
 * why pods have no namespaces, or NULL. All strings must outlive the registrar, and the caller must
 * free `client` before the registrar. */
struct node_registrar;
struct node_registrar *node_registrar_new(struct loop *loop, struct kube_client *client,
                                          const char *state_dir, const char *const *names,
                                          const struct node_size *size, int gpus,
                                          const char *plain);
/* Reports the nodes as not Ready because pods get no network; `why` is the reason. If `why` is
 * NULL, reports the nodes as Ready again. A change between Ready and not Ready is sent at once,
 * with one event per node. If only the reason has changed, the next heartbeat sends it. `why` must
 * outlive the registrar. */
void node_registrar_set_network_down(struct node_registrar *registrar, const char *why);
struct node_registrar *node_registrar_free(struct node_registrar *registrar);

#endif
