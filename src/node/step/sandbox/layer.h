/* The directory on the disk that holds what a container writes over its root. Each run of a
 * container begins with an empty one; it is removed with the pod. Used by the sandbox's first
 * process. */
#ifndef TRAINYARD_NODE_STEP_SANDBOX_LAYER_H
#define TRAINYARD_NODE_STEP_SANDBOX_LAYER_H

#include "node/pod/record/spec.h"

/* Creates an empty container->layer and removes the one of the run before. */
int step_layer_make(const struct pod_container *container, struct err *err);

/* Mounts an overlay over the directory `lower`: what the container writes goes to its layer, which
 * step_layer_make() has just created. Returns a negative code if the kernel or the file system of
 * the layer refuses that. */
int step_layer_mount(const struct pod_spec *spec, const struct pod_container *container, int lower,
                     const char *mount_point);

#endif
