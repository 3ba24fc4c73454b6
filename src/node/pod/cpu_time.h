/* The CPU time of exec commands and probes of a container. They are children of the supervisor, so
 * /proc does not attribute it to a container after they have exited. On a machine without a
 * control group that counts CPU time, the supervisor writes it and the control process reads it. */
#ifndef TRAINYARD_NODE_POD_CPU_TIME_H
#define TRAINYARD_NODE_POD_CPU_TIME_H

#include <stdint.h>

/* Stores the time for display. Does not wait for the disk and ignores a full one. */
void pod_cpu_time_store(const char *directory, const char *container, int64_t run, int64_t cpu_ns);
/* Returns the CPU time in ns, or 0 if none was stored for this run. Runs are counted by restarts.
 */
int64_t pod_cpu_time_load(const char *directory, const char *container, int64_t run);

#endif
