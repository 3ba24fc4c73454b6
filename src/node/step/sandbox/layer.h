/* The directory on the disk that holds what a container writes over its root. Each run of a
 * container begins with an empty one; it goes with the pod. Used by the sandbox's first process. */
#ifndef TRAINYARD_NODE_STEP_LAYER_H
#define TRAINYARD_NODE_STEP_LAYER_H

#include "node/pod/spec.h"

/* Makes container->layer, without anything of the run before in it. */
int step_layer_make(const struct pod_container *container, struct err *err);

/* Mounts an overlay: what the container writes over `lower`, a directory, goes to its layer, which
 * has just been made. Returns a negative number where the kernel or the file system of the layer
 * refuses that. */
int step_layer_mount(const struct pod_spec *spec, const struct pod_container *container, int lower,
                     const char *mount_point);

#endif
