/* The layers of an image, applied one over the other into one directory: files, links, what a later
 * layer takes away. The archive is a stranger's: nothing is written outside of the directory,
 * whatever names and links it holds, since every path is resolved by the kernel with the directory
 * as its root. Devices are left out, set-id bits dropped, and owners kept where we may. */
#ifndef TRAINYARD_NODE_IMAGE_UNPACK_H
#define TRAINYARD_NODE_IMAGE_UNPACK_H

#include "node/image/tar_read.h"

struct image_unpack;

/* Into the directory `root_fd`, at most `entries_max` entries in all. */
struct image_unpack *image_unpack_new(int root_fd, uint64_t entries_max);
struct image_unpack *image_unpack_free(struct image_unpack *unpack);
DEFINE_CLEANUP(image_unpack)

/* ERR_CANCELED when a signal to end the process is pending. */
int image_unpack_layer(struct image_unpack *unpack, struct tar_source source, struct err *err);

/* After the last layer: directories get the modes they shall have, which until now would have stood
 * in our own way. Tells how many bytes the files have. */
int image_unpack_finish(struct image_unpack *unpack, uint64_t *ret_size, struct err *err);

#endif
