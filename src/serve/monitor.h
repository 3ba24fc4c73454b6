/* A training run as others see it while it goes on: /progress for the operator and for people, in
 * JSON, /metrics for Prometheus, /healthz for probes. A thread of its own answers and only looks at
 * the run's state, so that nobody who asks, however often, holds up a step. Used by `trainer fit`.
 */
#ifndef TRAINYARD_SERVE_MONITOR_H
#define TRAINYARD_SERVE_MONITOR_H

#include "base/buf.h"
#include "base/err.h"
#include "train/run/run_state.h"

struct monitor;

/* `state` must outlive it. Port 0 takes any free one. */
int monitor_start(const char *address, int port, struct run_state *state, struct monitor **ret,
                  int *ret_port, struct err *err);
struct monitor *monitor_stop(struct monitor *monitor); /* NULL-safe; returns NULL */

static inline void cleanup_monitor(struct monitor **monitor)
{
    monitor_stop(*monitor);
}

/* The text at /metrics. */
void monitor_write_metrics(const struct run_state_view *view, struct buf *text);

#endif
