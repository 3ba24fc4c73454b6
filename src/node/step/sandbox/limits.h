/* Limits that a pod's supervisor sets for its containers and for commands that run in them later.
 */
#ifndef TRAINYARD_NODE_STEP_SANDBOX_LIMITS_H
#define TRAINYARD_NODE_STEP_SANDBOX_LIMITS_H

#include "node/pod/record/spec.h"

/* Creates the pod's control groups, before its first container starts. step_limits_end_pod()
 * removes them after the last container, and kills the processes that are still in them. */
int step_limits_begin_pod(const struct pod_spec *spec, struct err *err);
void step_limits_end_pod(const struct pod_spec *spec);

/* Creates a container's control groups. Each run has new control groups, so that they count this
 * run only. */
int step_limits_begin(const struct pod_spec *spec, const struct pod_container *container,
                      struct err *err);
/* Called after the container's first process was reaped. Removes the container's control groups.
 * Returns true if the kernel has killed one of its processes for lack of memory. */
bool step_limits_end(const struct pod_spec *spec, const struct pod_container *container);

/* Moves the caller into the container's control groups. Called in the first process and in the
 * processes of exec, while the machine's /sys/fs/cgroup is still visible. */
int step_limits_enter(const struct pod_spec *spec, const struct pod_container *container,
                      struct err *err);
/* Called after step_limits_enter() in the first process, in the finished sandbox. If no control
 * group limits memory, it limits each file system in memory at /tmp, /var/tmp and /run to the
 * container's memory limit. */
void step_limits_shrink_memory_files(const struct pod_spec *spec,
                                     const struct pod_container *container);
/* Called last before the command is executed. If the container has its own user namespace and no
 * control group limits processes, it sets the kernel's limit per user namespace. */
int step_limits_count_processes(const struct pod_spec *spec, struct err *err);

#endif
