/* <state>/images: a directory an image, called after its digest, and beside them what is being
 * imported. Whoever was killed while importing leaves only the latter, which the next one removes.
 */
#ifndef TRAINYARD_NODE_IMAGE_STORE_H
#define TRAINYARD_NODE_IMAGE_STORE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/json/json.h"

/* One at a time may change the table; held until the descriptor closes. */
int image_store_lock(const char *state_dir, int *ret_fd, struct err *err);

/* An empty directory to work in, ours as long as the descriptor is open. */
int image_store_begin(struct arena *arena, const char *state_dir, const char **ret_path,
                      int *ret_fd, struct err *err);

/* The name of a pod that has not ended and whose root is this one, or NULL. */
const char *image_store_user(struct arena *arena, const char *state_dir, const char *root);

/* Remove the files of images that are in no row of the table and in no pod's use, and what broken
 * imports left. The caller holds the lock. */
int image_store_collect(const char *state_dir, const struct json *table, struct err *err);

#endif
