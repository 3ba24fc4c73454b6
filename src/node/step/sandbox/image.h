/* Mounts the root file system of a container with an image: an overlay over the files of the image.
 * Files that the container writes are removed before its next run or with the pod. Only the
 * sandbox's first process calls these functions, before it drops its privileges. */
#ifndef TRAINYARD_NODE_STEP_SANDBOX_IMAGE_H
#define TRAINYARD_NODE_STEP_SANDBOX_IMAGE_H

#include "node/pod/record/spec.h"

/* Mounts the root at `mount_point`. Writes go to container->layer, or to memory if the file system
 * of the layer does not support overlays. If the kernel refuses overlays, the root is read-only and
 * `*ret_writable` is false. */
int step_image_mount(const struct pod_spec *spec, const struct pod_container *container,
                     const char *mount_point, bool *ret_writable, struct err *err);

/* Must be called in the new root, which is the working directory but not yet "/". Makes sure that
 * the targets of later mounts are directories and not links that lead back to the machine. Creates
 * or replaces them if `writable`; otherwise returns -ERR_UNSUPPORTED if one is missing or is not a
 * directory. */
int step_image_prepare(bool writable, struct err *err);

/* Writes the pod's hosts, hostname and resolv.conf over those of the image, in /etc. Must be called
 * after the container's root has become "/". */
int step_image_write_names(const struct pod_spec *spec, struct err *err);

#endif
