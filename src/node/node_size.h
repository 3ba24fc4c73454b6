/* Computes the resources that a node offers: the amounts given to `up`, or else all that the
 * machine has. */
#ifndef TRAINYARD_NODE_NODE_SIZE_H
#define TRAINYARD_NODE_NODE_SIZE_H

#include "base/json/json.h"
#include "node/node.h"

/* Returns the node's capacity by resource, without GPUs. */
struct json *node_size_capacity(struct arena *arena, const struct node_size *size);

/* Returns a patch of a node's annotations. The patch has one annotation per resource that `up` can
 * set. Its value is the machine's own amount if an amount was given to `up`; otherwise it is null,
 * which removes the annotation. */
struct json *node_size_annotations(struct arena *arena, const struct node_size *size);

#endif
