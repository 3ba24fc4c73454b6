/* Evaluates which nodes a pod requires and prefers, by the labels and names of nodes. Pure. */
#ifndef TRAINYARD_ENGINE_SCHEDULER_NODE_AFFINITY_H
#define TRAINYARD_ENGINE_SCHEDULER_NODE_AFFINITY_H

#include "base/json/json.h"

/* Whether the node matches spec.nodeSelector and the required part of spec.affinity.nodeAffinity.
 */
bool node_affinity_matches(struct arena *arena, const struct json *pod, const struct json *node);

/* Returns a short text of the labels that a rejected node lacks: "disk=ssd", or "zone in (a,b) or
 * !gpu" if one of several terms must match. */
const char *node_affinity_missing(struct arena *arena, const struct json *pod,
                                  const struct json *node);

/* Returns the sum of the weights of the preferences that the node matches. */
int64_t node_affinity_score(struct arena *arena, const struct json *pod, const struct json *node);

#endif
