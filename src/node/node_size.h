/* Computes the resources that a node offers: the amounts given to 'trainyard up', or the machine's
 * own amounts. The registrar (node_object.c) puts them into the Node objects. */
#ifndef TRAINYARD_NODE_NODE_SIZE_H
#define TRAINYARD_NODE_NODE_SIZE_H

#include "base/json/json.h"
#include "node/node.h"

/* Returns the node's capacity by resource: cpu, memory and pods, but not GPUs. */
struct json *node_size_capacity(struct arena *arena, const struct node_size *size);

/* Returns a merge patch of a node's annotations, with one annotation each for cpu and memory. If
 * `size` has an amount of the resource, the annotation's value is the machine's own amount.
 * Otherwise the value is null, which removes the annotation. */
struct json *node_size_annotations(struct arena *arena, const struct node_size *size);

#endif
