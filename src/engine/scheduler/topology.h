/* The domains into which a label divides the nodes: zones, racks, single nodes. Pure. */
#ifndef TRAINYARD_ENGINE_SCHEDULER_TOPOLOGY_H
#define TRAINYARD_ENGINE_SCHEDULER_TOPOLOGY_H

#include "engine/scheduler/scheduler.h"

#define TOPOLOGY_NONE SIZE_MAX /* the domain of a node that does not have the label */

/* Returns the domain of each node, allocated in the arena: the position of the first node that has
 * the same value of the label, or TOPOLOGY_NONE. */
size_t *topology_domains(struct arena *arena, const struct scheduler_view *view, const char *key);

/* Builds the label selector of `term`, an affinity term or a topology spread constraint of pod
 * `owner`. The labels in matchLabelKeys must have the owner's values, those in mismatchLabelKeys
 * other values. Labels that the owner does not have are ignored. A term without a selector, or with
 * an invalid selector, selects nothing. */
struct kube_selector;
void topology_selector(struct arena *arena, const struct json *term, const struct json *owner,
                       struct kube_selector *ret);

#endif
