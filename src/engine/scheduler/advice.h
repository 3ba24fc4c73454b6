/* What the user of the embedded cluster can do about pods that do not fit on its nodes even when
 * these are empty: start it with other options of `trainyard up`. Pure. */
#ifndef TRAINYARD_ENGINE_SCHEDULER_ADVICE_H
#define TRAINYARD_ENGINE_SCHEDULER_ADVICE_H

#include "engine/scheduler/scheduler.h"

/* A sentence with the command for pods that must run at one time, of which each asks for
 * `asked[i]`; NULL if the nodes are large enough, or if larger ones would not help. */
const char *scheduler_advice(struct arena *arena, const struct scheduler_view *view,
                             const struct node_usage *asked, size_t count);

#endif
