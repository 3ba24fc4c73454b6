/* Which nodes a pod must have and which it would rather have, by their labels and names. Pure. */
#ifndef TRAINYARD_ENGINE_NODE_AFFINITY_H
#define TRAINYARD_ENGINE_NODE_AFFINITY_H

#include "base/json.h"

/* spec.nodeSelector and the required part of spec.affinity.nodeAffinity. */
bool node_affinity_suits(struct arena *arena, const struct json *pod, const struct json *node);

/* The weights of the preferences that the node meets, together. */
int64_t node_affinity_liking(struct arena *arena, const struct json *pod, const struct json *node);

#endif
