/* Finds the user that a container runs as, in the image's /etc/passwd and /etc/group. An image
 * names the user as "app", "1000", "app:staff" or "1000:1000". plan/image.c calls it. */
#ifndef TRAINYARD_NODE_IMAGE_USER_H
#define TRAINYARD_NODE_IMAGE_USER_H

#include "base/arena.h"
#include "base/err.h"

#include <stdint.h>

enum { IMAGE_ACCOUNTS_MAX = 1024 * 1024 }; /* bytes of either file */

struct image_user {
    int64_t user, group;
    const char *home; /* the home directory; "/" if /etc/passwd names none */
};

/* Finds the user `text` in the root file system `root`. "" means the user root. A user number that
 * is not in /etc/passwd has group 0, unless `text` names a group. Returns -ERR_INVALID for the name
 * of a user or group that the image does not list. */
int image_user_find(struct arena *arena, const char *root, const char *text, struct image_user *ret,
                    struct err *err);

#endif
