/* The other paths at which the machine shows a file: directories that are mounted a second time,
 * as by `mount --bind`. Computed from the text of /proc/self/mountinfo. Pure. */
#ifndef TRAINYARD_NODE_PROCESS_MOUNT_INFO_H
#define TRAINYARD_NODE_PROCESS_MOUNT_INFO_H

#include "node/plan/strings.h"

/* Appends to `ret` every other path at which the file at `path` may be visible. `path` is absolute
 * and contains no links. Mounts that hide such a path are not considered: the caller compares the
 * files. */
void mount_info_aliases(struct arena *arena, const char *mountinfo, const char *path,
                        struct pod_strings *ret);

/* Decodes escapes such as \040 for a space, in place. */
char *mount_info_unescape(char *text);

#endif
