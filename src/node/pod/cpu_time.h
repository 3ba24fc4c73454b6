/* The time that commands beside a container's own had, and tries of its probes: they are children
 * of the supervisor, so when they have ended /proc tells of them no more, container by container.
 * Where no control group counts, the supervisor writes it and control reads it. */
#ifndef TRAINYARD_NODE_POD_SPENT_H
#define TRAINYARD_NODE_POD_SPENT_H

#include <stdint.h>

/* A figure to be shown: nobody waits for the disk, and one that is full is nobody's trouble. */
void pod_cpu_time_store(const char *directory, const char *container, int64_t run, int64_t cpu_ns);
/* 0 where nothing was written in that run, which is counted by restarts. */
int64_t pod_cpu_time_load(const char *directory, const char *container, int64_t run);

#endif
