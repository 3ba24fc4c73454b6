/* Finds the user that a container runs as, in the image's /etc/passwd and /etc/group. Forms of the
 * user are "app", "1000", "app:staff" and "1000:1000". */
#ifndef TRAINYARD_NODE_IMAGE_USER_H
#define TRAINYARD_NODE_IMAGE_USER_H

#include "base/arena.h"
#include "base/err.h"

#include <stdint.h>

enum { IMAGE_ACCOUNTS_MAX = 1024 * 1024 }; /* bytes of either file */

struct image_user {
    int64_t user, group;
    const char *home; /* "/" if /etc/passwd names none */
};

/* Finds the user `text` in the root file system `root`. "" is root. A user number that is not
 * listed has group 0, unless `text` names a group. Returns -ERR_INVALID for the name of a user or
 * group that is not listed. */
int image_user_find(struct arena *arena, const char *root, const char *text, struct image_user *ret,
                    struct err *err);

#endif
