/* Evaluates which nodes a pod requires and which it prefers, by the labels and names of nodes.
 * Pure. */
#ifndef TRAINYARD_ENGINE_SCHEDULER_NODE_AFFINITY_H
#define TRAINYARD_ENGINE_SCHEDULER_NODE_AFFINITY_H

#include "base/json/json.h"

/* Returns whether the node matches spec.nodeSelector and the required part of
 * spec.affinity.nodeAffinity. */
bool node_affinity_matches(struct arena *arena, const struct json *pod, const struct json *node);

/* Returns a short text of the labels that a rejected node lacks, allocated in the arena:
 * "disk=ssd", or "zone in (a,b) or !gpu" if one of several terms must match. */
const char *node_affinity_missing(struct arena *arena, const struct json *pod,
                                  const struct json *node);

/* Returns the sum of the weights of the preferred terms of nodeAffinity that match the node. */
int64_t node_affinity_score(struct arena *arena, const struct json *pod, const struct json *node);

#endif
