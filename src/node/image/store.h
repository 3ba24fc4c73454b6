/* Manages <state>/images, which contains one directory per image, named by its digest, and one
 * directory per import in progress. If an import is killed, its directory remains until the next
 * import or change of the image table. `trainyard image` uses it (image/edit.c, image/import.c). */
#ifndef TRAINYARD_NODE_IMAGE_STORE_H
#define TRAINYARD_NODE_IMAGE_STORE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/json/json.h"

/* Takes the lock for changes of the image table. Waits while another process holds it. The lock is
 * held until the caller closes the descriptor. */
int image_store_lock(const char *state_dir, int *ret_fd, struct err *err);

/* Creates an empty directory for an import, <state>/images/import.…. Other processes do not remove
 * it before the caller closes the descriptor `*ret_fd`. The caller must hold the lock of
 * image_store_lock() during the call. */
int image_store_begin(struct arena *arena, const char *state_dir, const char **ret_path,
                      int *ret_fd, struct err *err);

/* Returns the host name of a pod that has not ended and has a container with the root `root`.
 * Returns NULL if there is no such pod. */
const char *image_store_find_pod(struct arena *arena, const char *state_dir, const char *root);

/* Removes the files of images that are in no row of the table and that no pod uses, and the
 * directories of killed imports. The caller must hold the lock of image_store_lock(). */
int image_store_collect(const char *state_dir, const struct json *table, struct err *err);

#endif
