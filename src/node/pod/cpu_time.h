/* The CPU time of the exec commands, probes and hooks of a container. These processes are children
 * of the supervisor, so /proc does not attribute their CPU time to a container after they have
 * exited. If no cgroup counts CPU time on this machine, the supervisor writes this time to a file,
 * and the trainyard server reads the file. */
#ifndef TRAINYARD_NODE_POD_CPU_TIME_H
#define TRAINYARD_NODE_POD_CPU_TIME_H

#include <stdint.h>

/* Stores the CPU time, which is used for display only. Does not wait for the disk and ignores a
 * full disk. `run` is the restart count of the container. */
void pod_cpu_time_store(const char *directory, const char *container, int64_t run, int64_t cpu_ns);
/* Returns the CPU time in ns, or 0 if none was stored for this run. */
int64_t pod_cpu_time_load(const char *directory, const char *container, int64_t run);

#endif
