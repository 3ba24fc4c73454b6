/* Makes the layer of a container: the directory on the disk for files that the container writes to
 * its root, or, in a pod without namespaces, to its working directory. Each run of a container
 * begins with an empty layer. The layer is removed with the pod. Only the sandbox's first process
 * uses it. */
#ifndef TRAINYARD_NODE_STEP_SANDBOX_LAYER_H
#define TRAINYARD_NODE_STEP_SANDBOX_LAYER_H

#include "node/pod/record/spec.h"

/* Removes the layer of the previous run and creates an empty container->layer. */
int step_layer_make(const struct pod_container *container, struct err *err);

/* Mounts an overlay over the directory behind the descriptor `lower`. Files that the container
 * writes go to its layer, which must be empty. Returns 0, or -1 if the overlay cannot be mounted,
 * for example because the kernel or the file system of the layer does not support it. */
int step_layer_mount(const struct pod_spec *spec, const struct pod_container *container, int lower,
                     const char *mount_point);

#endif
