/* Serves the state of a training run while it is running: /progress as JSON for the operator and
 * for people, /metrics for Prometheus, /healthz for probes. A separate thread answers the requests
 * and only reads the state of the run, so that requests never delay a training step. `trainer fit`
 * starts and stops it. */
#ifndef TRAINYARD_SERVE_MONITOR_H
#define TRAINYARD_SERVE_MONITOR_H

#include "base/buf.h"
#include "base/err.h"
#include "train/run/run_state.h"

struct monitor;

/* Listens at `address` and `port`, and starts the thread. `state` must outlive the monitor. With
 * port 0 the kernel chooses a free port. *ret_port is the port in use. The caller stops *ret with
 * monitor_stop(). */
int monitor_start(const char *address, int port, struct run_state *state, struct monitor **ret,
                  int *ret_port, struct err *err);
/* Closes the port, waits for the thread and frees the monitor. NULL-safe; returns NULL. */
struct monitor *monitor_stop(struct monitor *monitor);

static inline void cleanup_monitor(struct monitor **monitor)
{
    monitor_stop(*monitor);
}

/* Writes the text of /metrics. */
void monitor_write_metrics(const struct run_state_view *view, struct buf *text);

#endif
