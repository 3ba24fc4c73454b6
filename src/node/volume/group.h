/* The group of a volume (fsGroup), as the kubelet sets it: everything in the volume belongs to the
 * group, which may read it and, if the volume is writable, write it. New files in its directories
 * inherit the group. */
#ifndef TRAINYARD_NODE_VOLUME_GROUP_H
#define TRAINYARD_NODE_VOLUME_GROUP_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* Changes everything at and below `path`; does not follow links or enter other file systems. A
 * negative group changes nothing. */
int volume_group_give(const char *path, int64_t group, bool read_only, struct err *err);
/* Changes the directory alone. */
int volume_group_give_one(const char *path, int64_t group, struct err *err);
/* Whether the directory itself already belongs to the group, as fsGroupChangePolicy
 * "OnRootMismatch" asks. */
bool volume_group_is(const char *path, int64_t group);

#endif
