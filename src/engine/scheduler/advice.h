/* Suggests options of `trainyard up` for pods that do not fit on the nodes of the embedded cluster
 * even when the nodes are empty. Pure. */
#ifndef TRAINYARD_ENGINE_SCHEDULER_ADVICE_H
#define TRAINYARD_ENGINE_SCHEDULER_ADVICE_H

#include "engine/scheduler/scheduler.h"

/* Returns a sentence with a command that makes room for all pods at the same time. Pod i requests
 * `asked[i]`. Returns NULL if the nodes are large enough, or if larger nodes would not help. */
const char *scheduler_advice(struct arena *arena, const struct scheduler_view *view,
                             const struct node_usage *asked, size_t count);

#endif
