/* What holds the processes of a pod together and apart from others: namespaces, or, on a machine
 * that forbids them, our own care alone (docs/design/plain.md). Here and nowhere else in
 * trainyard-step it is decided which of the two; the kernel's way is in network.c, root.c and
 * privilege.c. */
#ifndef TRAINYARD_NODE_STEP_WORLD_H
#define TRAINYARD_NODE_STEP_WORLD_H

#include "node/step/step.h"

/* The supervisor, before the first container. */
int step_isolation_enter(const struct pod_spec *spec, const char *directory, struct err *err);

/* fork(): the child will be the first process of a container. */
pid_t step_isolation_fork(const struct pod_spec *spec);
/* In that child: build what the container sees, and give up what it must not be able to do. */
int step_isolation_build(const struct pod_spec *spec, const struct pod_container *container,
                         const char *mount_point, struct err *err);
/* What the first process is sent when its supervisor dies. If it is not SIGKILL it ends the rest
 * itself. */
int step_isolation_orphan_signal(const struct pod_spec *spec);
/* In the first process: the command has ended, and all that came of it is to end. */
void step_isolation_end(const struct pod_spec *spec);

/* In a process for a command beside the container's: become one of the container, whose first
 * process is behind the pidfd. */
int step_isolation_join(const struct pod_spec *spec, const struct pod_container *container,
                        int first_fd, struct err *err);

/* In the supervisor: the container's first process has been reaped, and nothing of the container
 * may be left. `others`: the supervisor's children that are for those that run on. */
void step_isolation_container_ended(const struct pod_spec *spec, const char *directory,
                                    const char *container, const pid_t *others, size_t count);

#endif
