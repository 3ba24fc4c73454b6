/* A root file system of the container's own, in place of the machine's: an image's files below, and
 * over them what the container writes, which goes with its run. Used by the sandbox's first process
 * only, which is still as powerful as its supervisor. */
#ifndef TRAINYARD_NODE_STEP_IMAGE_H
#define TRAINYARD_NODE_STEP_IMAGE_H

#include "node/pod/spec.h"

/* Mount it at `mount_point`. What is written lies in container->layer, in memory where the file
 * system there cannot serve, and nowhere at all (`ret_writable` false) where overlays are refused.
 */
int step_image_mount(const struct pod_spec *spec, const struct pod_container *container,
                     const char *mount_point, bool *ret_writable, struct err *err);

/* In the new root, which is the working directory and not yet "/": the directories that something
 * will be mounted on are directories, and no links that lead back to the machine. */
int step_image_prepare(bool writable, struct err *err);

/* The pod's hosts, hostname and resolv.conf in place of the image's; the root is "/". */
int step_image_write_names(const struct pod_spec *spec, struct err *err);

#endif
