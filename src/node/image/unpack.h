/* Applies the layers of an image into one directory, one over the other: files, links and
 * deletions. The archive is untrusted: nothing is written outside of the directory, whatever names
 * and links it contains, because the kernel resolves every path with the directory as its root.
 * Devices are skipped, set-id bits are dropped, and owners are kept if the caller may set them. */
#ifndef TRAINYARD_NODE_IMAGE_UNPACK_H
#define TRAINYARD_NODE_IMAGE_UNPACK_H

#include "node/image/tar_read.h"

struct image_unpack;

/* Unpacks into the directory `root_fd`, at most `entries_max` entries in total. */
struct image_unpack *image_unpack_new(int root_fd, uint64_t entries_max);
struct image_unpack *image_unpack_free(struct image_unpack *unpack);
DEFINE_CLEANUP(image_unpack)

/* Returns -ERR_CANCELED if a signal to end the process is pending. */
int image_unpack_layer(struct image_unpack *unpack, struct tar_source source, struct err *err);

/* After the last layer: sets the final modes of directories, which until now could have blocked
 * the unpacking. Returns the size of all files in bytes. */
int image_unpack_finish(struct image_unpack *unpack, uint64_t *ret_size, struct err *err);

#endif
