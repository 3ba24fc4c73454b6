/* How much a node offers: what `up` was told, else what the machine has. */
#ifndef TRAINYARD_NODE_NODE_SIZE_H
#define TRAINYARD_NODE_NODE_SIZE_H

#include "base/json/json.h"
#include "node/node.h"

/* The capacity of a node by resource, without its GPUs. */
struct json *node_size_capacity(struct arena *arena, const struct node_size *size);

/* A patch of a node's annotations: a node that offers what it was told has the machine's own amount
 * there; an annotation that the node must not have is null. */
struct json *node_size_annotations(struct arena *arena, const struct node_size *size);

#endif
