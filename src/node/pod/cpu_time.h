/* Stores and loads the CPU time that the exec commands, probes and hooks of a container have used.
 * These processes are children of the supervisor, so after their exit /proc does not show which
 * container they belonged to. If control groups do not count the usage of the container, the
 * supervisor writes this time to a file, and the control process reads the file for metrics. */
#ifndef TRAINYARD_NODE_POD_CPU_TIME_H
#define TRAINYARD_NODE_POD_CPU_TIME_H

#include <stdint.h>

/* Replaces the stored CPU time. `run` is the restart count of the container. The time is only for
 * display, so the function does not wait for the disk and does not report errors. */
void pod_cpu_time_store(const char *directory, const char *container, int64_t run, int64_t cpu_ns);
/* Returns the CPU time in ns, or 0 if none was stored for this run. */
int64_t pod_cpu_time_load(const char *directory, const char *container, int64_t run);

#endif
