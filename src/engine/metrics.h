/* Responds to /metrics with statistics about the turns of the loop, and with the bytes of memory
 * that the server uses for its clients, and the limits of this memory. Before engine.c calls
 * engine_metrics_answer(), it checks that the roles allow the path. */
#ifndef TRAINYARD_ENGINE_METRICS_H
#define TRAINYARD_ENGINE_METRICS_H

#include "base/budget.h"
#include "engine/watch/events.h"
#include "loop/loop_turns.h"
#include "net/http/http.h"

/* Sends the response. `turns` is NULL if the loop does not count its turns. `http` is the memory of
 * the HTTP servers that call the engine, or NULL. */
void engine_metrics_answer(struct http_exchange *exchange, const struct loop_turns *turns,
                           const struct watch_events *watches, const struct budget_group *http);

#endif
