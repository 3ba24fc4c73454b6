/* Sets the group of a volume (fsGroup) as the kubelet does. All files in the volume belong to the
 * group, which may read them and, if the volume is writable, write them. New files in the volume's
 * directories inherit the group. */
#ifndef TRAINYARD_NODE_VOLUME_GROUP_H
#define TRAINYARD_NODE_VOLUME_GROUP_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* Changes the directory `path` and the files below it. If `read_only`, does not add write
 * permission for the group. Does not follow links below `path`, enter other file systems, or enter
 * directories nested deeper than DEPTH_MAX (group.c). Skips files that cannot be opened. A negative
 * group changes nothing. */
int volume_group_give(const char *path, int64_t group, bool read_only, struct err *err);
/* Like volume_group_give(), but changes only the directory itself, and does not add write
 * permission for the group. */
int volume_group_give_one(const char *path, int64_t group, struct err *err);
/* Returns true if the directory itself already belongs to the group and passes the group on to new
 * files. Used for fsGroupChangePolicy "OnRootMismatch". */
bool volume_group_is(const char *path, int64_t group);

#endif
