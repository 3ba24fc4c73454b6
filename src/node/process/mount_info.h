/* Finds the other paths at which a file of the machine is visible, because the file or a directory
 * above it is mounted a second time (`mount --bind`). The sandbox uses it to mask a file at all
 * these paths; limits/cgroup_detect.c only decodes escapes with it. Parses the text of
 * /proc/self/mountinfo. Pure. */
#ifndef TRAINYARD_NODE_PROCESS_MOUNT_INFO_H
#define TRAINYARD_NODE_PROCESS_MOUNT_INFO_H

#include "node/plan/strings.h"

/* Appends to `ret` every other path at which the file at `path` may be visible. `path` is absolute
 * and contains no symbolic links. A further mount may hide the file at such a path, so the caller
 * must check that the path leads to the same file. */
void mount_info_aliases(struct arena *arena, const char *mountinfo, const char *path,
                        struct pod_strings *ret);

/* Decodes escapes such as \040 for a space, in place. Returns `text`. */
char *mount_info_unescape(char *text);

#endif
