/* The Node objects that stand for this machine: registered, labelled, kept Ready. Labels, taints
 * and cordons that people set are theirs and stay. */
#ifndef TRAINYARD_NODE_NODE_OBJECT_H
#define TRAINYARD_NODE_NODE_OBJECT_H

#include "kube/client.h"
#include "loop/loop.h"
#include "node/node_pressure.h"

/* "127.0.0.<n+1>": where pods with hostNetwork are reached. */
const char *node_object_address(struct arena *arena, int node);

/* `plain`: why pods have no namespaces here, or NULL. A Node as it is created, and the status it
 * has at `now`. */
struct json *node_object_make(struct arena *arena, const char *name, int node);
struct json *node_object_status(struct arena *arena, const char *name, int node, int gpus,
                                const struct node_pressure *pressure, const char *plain,
                                int64_t since_ms, int64_t now_ms);

/* What a node has, by resource: the whole machine, without its GPUs. */
struct json *node_object_capacity(struct arena *arena);

/* Registers the nodes, each with all the GPUs and images of the machine, and keeps their heartbeat
 * until it is freed. The state directory's path is the caller's to keep. */
struct node_registrar;
struct node_registrar *node_registrar_new(struct loop *loop, struct kube_client *client,
                                          const char *state_dir, const char *const *names, int gpus,
                                          const char *plain);
struct node_registrar *node_registrar_free(struct node_registrar *registrar);

#endif
