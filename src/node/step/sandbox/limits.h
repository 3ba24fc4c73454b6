/* Limits as a pod's supervisor sets them, for its containers and for what is run in them later. */
#ifndef TRAINYARD_NODE_STEP_LIMITS_H
#define TRAINYARD_NODE_STEP_LIMITS_H

#include "node/pod/spec.h"

/* The pod's groups, before its first container; they are removed after its last, with all that may
 * still be in them. */
int step_limits_begin_pod(const struct pod_spec *spec, struct err *err);
void step_limits_end_pod(const struct pod_spec *spec);

/* A container's groups, new for each run, so that they count one run only. */
int step_limits_begin(const struct pod_spec *spec, const struct pod_container *container,
                      struct err *err);
/* Its first process has been reaped: true if the kernel ended one of its processes for want of
 * memory. The groups are gone afterwards. */
bool step_limits_end(const struct pod_spec *spec, const struct pod_container *container);

/* What every process of a container goes through, its first one and those of exec: first this,
 * while the machine's /sys/fs/cgroup is still in sight … */
int step_limits_enter(const struct pod_spec *spec, const struct pod_container *container,
                      struct err *err);
/* … then, for the first one, in the sandbox that is built: where no group counts memory, files kept
 * in memory are limited at least. */
void step_limits_shrink_memory_files(const struct pod_spec *spec,
                                     const struct pod_container *container);
/* … and this in the container's user namespace, before the command: where no group counts the
 * processes, the kernel counts those of the namespace. */
int step_limits_count_processes(const struct pod_spec *spec, struct err *err);

#endif
