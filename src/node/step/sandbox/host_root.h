/* The root of a container that sees the machine's files: a directory of the container's own, in
 * which each entry of the machine's root is mounted read-only. Used by the sandbox's first process
 * only, which is still as powerful as its supervisor. */
#ifndef TRAINYARD_NODE_STEP_MACHINE_H
#define TRAINYARD_NODE_STEP_MACHINE_H

#include "node/pod/spec.h"

/* Mounts the root at `mount_point`, which becomes the working directory, with empty directories for
 * /proc, /sys, /dev, /run and /tmp. The directory is container->layer, so the container can write
 * new files beside the machine's entries. It is memory, and `ret_writable` false, for a container
 * without a layer or with a read-only root, and where the disk has no room for the layer. */
int step_host_root_mount(const struct pod_spec *spec, const struct pod_container *container,
                         const char *mount_point, bool *ret_writable, struct err *err);

#endif
