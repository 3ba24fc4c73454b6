/* The API server's answer at /metrics: the turns of its loop, and the bytes that it keeps for its
 * clients, with their limits. A role must allow the path, as any path outside of the API. */
#ifndef TRAINYARD_ENGINE_METRICS_H
#define TRAINYARD_ENGINE_METRICS_H

#include "base/budget.h"
#include "engine/watch/events.h"
#include "loop/loop_turns.h"
#include "net/http/http.h"

/* `turns` is NULL for a loop that does not count them. `http` is the memory of the servers in front
 * of the API, or NULL. */
void engine_metrics_answer(struct http_exchange *exchange, const struct loop_turns *turns,
                           const struct watch_events *watches, const struct budget_group *http);

#endif
