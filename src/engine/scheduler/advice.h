/* Suggests options of `trainyard up` for pods that do not fit on the nodes of the embedded cluster
 * even when the nodes are empty. Pure. */
#ifndef TRAINYARD_ENGINE_SCHEDULER_ADVICE_H
#define TRAINYARD_ENGINE_SCHEDULER_ADVICE_H

#include "engine/scheduler/scheduler.h"

/* Returns a sentence with the commands that make room for all pods at the same time. Pod i requests
 * `requests[i]`. Returns NULL if there are no nodes, or if the nodes are large enough and the
 * option --fake-gpus does not help. */
const char *scheduler_advice(struct arena *arena, const struct scheduler_view *view,
                             const struct node_usage *requests, size_t count);

#endif
