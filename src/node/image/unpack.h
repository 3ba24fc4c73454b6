/* Unpacks the layers of an image into one directory, each layer on top of the previous one: files,
 * links and deletions. The archive is untrusted. Nothing is written outside of the directory,
 * because the kernel resolves every path with the directory as its root. Devices are skipped, and
 * set-id bits are dropped. Owners are kept if root unpacks the image. image/import.c calls it. */
#ifndef TRAINYARD_NODE_IMAGE_UNPACK_H
#define TRAINYARD_NODE_IMAGE_UNPACK_H

#include "node/image/tar_read.h"

struct image_unpack;

/* Unpacks into the directory `root_fd`, which the caller closes later. All layers together may have
 * `entries_max` entries. */
struct image_unpack *image_unpack_new(int root_fd, uint64_t entries_max);
struct image_unpack *image_unpack_free(struct image_unpack *unpack);
DEFINE_CLEANUP(image_unpack)

/* Unpacks the next layer. Returns -ERR_CANCELED if SIGINT or SIGTERM is pending: the caller must
 * block these signals before. Returns -ERR_TOO_MANY if there are too many entries. */
int image_unpack_layer(struct image_unpack *unpack, struct tar_source source, struct err *err);

/* Must be called after the last layer. Sets the final modes and times of directories. If the modes
 * were set earlier, a mode without write permission would block later layers. Sets *ret_size to the
 * size of all files in bytes. */
int image_unpack_finish(struct image_unpack *unpack, uint64_t *ret_size, struct err *err);

#endif
