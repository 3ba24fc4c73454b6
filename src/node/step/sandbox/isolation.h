/* Isolates the processes of a pod by namespaces. On a machine that forbids namespaces, pods run
 * without them (spec->plain): the supervisor only tracks the processes and kills them at the end
 * (docs/design/plain.md). In trainyard-step only isolation.c and the fork in exec.c choose between
 * the two ways; other files use spec->plain only to choose a message. Namespaces are implemented in
 * network.c, root.c, privilege.c and share.c. */
#ifndef TRAINYARD_NODE_STEP_SANDBOX_ISOLATION_H
#define TRAINYARD_NODE_STEP_SANDBOX_ISOLATION_H

#include "node/step/step.h"

/* Called in the supervisor, before the first container. Moves the supervisor into the pod's
 * namespaces, sets the pod's sysctls, and mounts its /dev/shm and its volumes in memory. In a pod
 * without namespaces, kills the processes that an earlier supervisor left. */
int step_isolation_enter(const struct pod_spec *spec, const char *directory, struct err *err);

/* Like fork(): the child becomes the first process of a container. If the containers share a PID
 * namespace, step_share_fork() is used instead. */
pid_t step_isolation_fork(const struct pod_spec *spec);
/* Called in the child of step_isolation_fork() or step_share_fork(). Builds the container's view of
 * the machine, and drops the rights that the container must not have. */
int step_isolation_build(const struct pod_spec *spec, const struct pod_container *container,
                         const char *mount_point, struct err *err);
/* Returns the signal that the first process gets when its supervisor dies. If it is not SIGKILL,
 * the first process must kill the other processes itself. */
int step_isolation_orphan_signal(const struct pod_spec *spec);
/* Called in the first process after the command has ended or the supervisor has died. In a pod
 * without namespaces, kills all descendants of the caller. */
void step_isolation_end(const struct pod_spec *spec);

/* Called in the process of an exec command. Joins the container whose first process `first_fd`, a
 * pidfd, refers to, and drops the rights that the container must not have. */
int step_isolation_join(const struct pod_spec *spec, const struct pod_container *container,
                        int first_fd, struct err *err);

/* Called in the supervisor after the container's first process was reaped. In a pod without
 * namespaces, kills the remaining processes of the container. `others` are the supervisor's
 * children that belong to other containers. */
void step_isolation_container_ended(const struct pod_spec *spec, const char *directory,
                                    const char *container, const pid_t *others, size_t count);

#endif
