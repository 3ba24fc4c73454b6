/* Sets the limits of a pod and its containers by control groups. If no control group enforces a
 * memory limit, only the size of file systems in memory is limited. If none limits processes,
 * RLIMIT_NPROC may do so. The pod's supervisor and the processes that it starts use it. */
#ifndef TRAINYARD_NODE_STEP_SANDBOX_LIMITS_H
#define TRAINYARD_NODE_STEP_SANDBOX_LIMITS_H

#include "node/pod/record/spec.h"

/* step_limits_begin_pod() creates the pod's control groups, before its first container starts.
 * step_limits_end_pod() removes them after the last container, and kills the processes that are
 * still in them. */
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
/* Called in the first process when the container's root is mounted. If the container has a memory
 * limit and no control group enforces it, sets the size of each file system in memory at /tmp,
 * /var/tmp and /run to that limit. */
void step_limits_shrink_memory_files(const struct pod_spec *spec,
                                     const struct pod_container *container);
/* Called after step_privilege_drop() or step_privilege_bound(). If the container has its own user
 * namespace and no control group limits processes, sets the limit of processes per user namespace.
 * Does nothing before Linux 5.14. */
int step_limits_set_process_count(const struct pod_spec *spec, struct err *err);

#endif
