/* The group of a volume (fsGroup), as the kubelet gives it: all that lies in the volume belongs to
 * it and may be read, and where the volume can be written, written by it; what is made in its
 * directories inherits it. */
#ifndef TRAINYARD_NODE_VOLUME_GROUP_H
#define TRAINYARD_NODE_VOLUME_GROUP_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* Everything at and below `path`; links are not followed, other file systems not entered. A
 * negative group is none. */
int volume_group_give(const char *path, int64_t group, bool read_only, struct err *err);
/* The directory alone. */
int volume_group_give_one(const char *path, int64_t group, struct err *err);
/* True if the directory itself belongs to the group already: what fsGroupChangePolicy
 * "OnRootMismatch" asks. */
bool volume_group_is(const char *path, int64_t group);

#endif
