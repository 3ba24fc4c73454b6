/* Mounts the root of a container that sees the machine's files. The root is a new directory, in
 * which the entries of the machine's root are mounted read-only. Only the sandbox's first process
 * calls step_host_root_mount(), before it drops its privileges. */
#ifndef TRAINYARD_NODE_STEP_SANDBOX_HOST_ROOT_H
#define TRAINYARD_NODE_STEP_SANDBOX_HOST_ROOT_H

#include "node/pod/record/spec.h"

/* Mounts the root at `mount_point`, which becomes the working directory. /proc, /sys, /dev, /run
 * and /tmp are empty directories. New files that the container writes beside the machine's entries
 * go to container->layer. If the container has no layer or a read-only root, or if the layer cannot
 * be made, for example because the disk is full, the root is in memory and `*ret_writable` is
 * false. */
int step_host_root_mount(const struct pod_spec *spec, const struct pod_container *container,
                         const char *mount_point, bool *ret_writable, struct err *err);

#endif
