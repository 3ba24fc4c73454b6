/* How the processes of a pod are kept together and apart from others: by namespaces, or, on a
 * machine that forbids them, only by the supervisor's own care (docs/design/plain.md). Only this
 * file of trainyard-step decides between the two. Namespaces are implemented in network.c, root.c
 * and privilege.c. */
#ifndef TRAINYARD_NODE_STEP_SANDBOX_ISOLATION_H
#define TRAINYARD_NODE_STEP_SANDBOX_ISOLATION_H

#include "node/step/step.h"

/* Called in the supervisor, before the first container. */
int step_isolation_enter(const struct pod_spec *spec, const char *directory, struct err *err);

/* Like fork(): the child becomes the first process of a container. */
pid_t step_isolation_fork(const struct pod_spec *spec);
/* Called in that child: builds what the container sees, and drops the rights that it must not
 * have. */
int step_isolation_build(const struct pod_spec *spec, const struct pod_container *container,
                         const char *mount_point, struct err *err);
/* Returns the signal that the first process gets when its supervisor dies. If it is not SIGKILL,
 * the first process ends the others itself. */
int step_isolation_orphan_signal(const struct pod_spec *spec);
/* Called in the first process after the command has ended: ends all its descendants. */
void step_isolation_end(const struct pod_spec *spec);

/* Called in a process for an exec command: joins the container whose first process is behind the
 * pidfd. */
int step_isolation_join(const struct pod_spec *spec, const struct pod_container *container,
                        int first_fd, struct err *err);

/* Called in the supervisor after the container's first process was reaped: ends all processes of
 * the container. `others` are the supervisor's children that belong to other containers. */
void step_isolation_container_ended(const struct pod_spec *spec, const char *directory,
                                    const char *container, const pid_t *others, size_t count);

#endif
