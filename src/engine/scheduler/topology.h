/* The domains that a label divides the nodes into: zones, racks, single nodes. Pure. */
#ifndef TRAINYARD_ENGINE_TOPOLOGY_H
#define TRAINYARD_ENGINE_TOPOLOGY_H

#include "engine/scheduler/scheduler.h"

#define TOPOLOGY_NONE SIZE_MAX

/* Of each node its domain, which is the position of the first node with the same value of the
 * label; TOPOLOGY_NONE of one without the label. */
size_t *topology_domains(struct arena *arena, const struct scheduler_view *view, const char *key);

/* A label selector with what the keys of further labels add to it: the same value as the owner of
 * the term has (matchLabelKeys), or another (mismatchLabelKeys). No selector selects nothing. */
struct kube_selector;
void topology_selector(struct arena *arena, const struct json *term, const struct json *owner,
                       struct kube_selector *ret);

#endif
