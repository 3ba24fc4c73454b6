/* The root of a container that sees the machine's files: a directory of the container's own, in
 * which each entry of the machine's root is mounted read-only. Only the sandbox's first process
 * uses it, before it drops its privileges. */
#ifndef TRAINYARD_NODE_STEP_SANDBOX_HOST_ROOT_H
#define TRAINYARD_NODE_STEP_SANDBOX_HOST_ROOT_H

#include "node/pod/record/spec.h"

/* Mounts the root at `mount_point`, which becomes the working directory, with empty directories
 * for /proc, /sys, /dev, /run and /tmp. The directory is container->layer, so the container can
 * write new files beside the machine's entries. For a container without a layer or with a
 * read-only root, and if the disk has no room for the layer, the root is in memory and
 * `ret_writable` is false. */
int step_host_root_mount(const struct pod_spec *spec, const struct pod_container *container,
                         const char *mount_point, bool *ret_writable, struct err *err);

#endif
