/* Finds and ends processes that no PID namespace holds together: by their parents, or by a mark in
 * their environment. For pods without namespaces (docs/design/plain.md). */
#ifndef TRAINYARD_NODE_PROCESS_ORPHANS_H
#define TRAINYARD_NODE_PROCESS_ORPHANS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The environment variable that every process of such a pod has: "<pod directory>/<container>". */
#define ORPHANS_MARK "TRAINYARD_POD"

/* Whether to end the descendants of `top`, a child of the caller. */
typedef bool orphans_choose(void *context, pid_t top);

/* Kills all descendants of the caller, repeatedly until none is left. `choose` selects by child;
 * NULL selects all. Only a subreaper also sees its orphans. Returns false if a process does not
 * die. */
bool orphans_end_below(orphans_choose *choose, void *context);

/* Writes the mark of a process to `ret`, or "" if it has none that can be read. */
void orphans_mark_of(pid_t pid, char *ret, size_t size);

/* Kills all processes whose mark is one or two names below this path, repeatedly until none is
 * left; a name that begins with a dot does not count. `spare`, which may be NULL, gets the mark
 * and returns true for a process to keep. Returns the number of processes found. */
typedef bool orphans_spare(void *context, const char *mark);
size_t orphans_end_marked(const char *path, orphans_spare *spare, void *context);

#endif
