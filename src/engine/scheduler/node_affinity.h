/* Which nodes a pod must have and which it would rather have, by their labels and names. Pure. */
#ifndef TRAINYARD_ENGINE_NODE_AFFINITY_H
#define TRAINYARD_ENGINE_NODE_AFFINITY_H

#include "base/json/json.h"

/* spec.nodeSelector and the required part of spec.affinity.nodeAffinity. */
bool node_affinity_matches(struct arena *arena, const struct json *pod, const struct json *node);

/* What a node that does not suit lacks, of bounded length: "disk=ssd", or "zone in (a,b) or !gpu"
 * where each of several terms would do. */
const char *node_affinity_missing(struct arena *arena, const struct json *pod,
                                  const struct json *node);

/* The weights of the preferences that the node meets, together. */
int64_t node_affinity_score(struct arena *arena, const struct json *pod, const struct json *node);

#endif
