/* What the API server tells of itself at /metrics: the bytes it keeps for its clients, against
 * their limits. */
#ifndef TRAINYARD_ENGINE_ENGINE_METRICS_H
#define TRAINYARD_ENGINE_ENGINE_METRICS_H

#include "base/budget.h"
#include "engine/watch_events.h"
#include "net/http.h"

/* `http` is of the servers in front of the API, or NULL. */
void engine_metrics_answer(struct http_exchange *exchange, const struct watch_events *watches,
                           const struct budget_group *http);

#endif
