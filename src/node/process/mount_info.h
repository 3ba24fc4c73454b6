/* Where the machine shows a file besides the path at hand: directories that are mounted a second
 * time, as `mount --bind` does it. Read from the text of /proc/self/mountinfo. Pure. */
#ifndef TRAINYARD_NODE_PROCESS_MOUNT_INFO_H
#define TRAINYARD_NODE_PROCESS_MOUNT_INFO_H

#include "node/plan/strings.h"

/* Append to `ret` every other path at which the file at `path` may be seen. `path` is absolute and
 * has no links in it. What is mounted over such a path is not looked at: the caller compares the
 * files. */
void mount_info_aliases(struct arena *arena, const char *mountinfo, const char *path,
                        struct pod_strings *ret);

/* Spaces and the like are written as \040 there. In place. */
char *mount_info_unescape(char *text);

#endif
