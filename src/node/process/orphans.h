/* Finds and kills the processes of pods that run without namespaces (docs/design/plain.md). The
 * processes are found as descendants of the caller, or by a mark in their environment. */
#ifndef TRAINYARD_NODE_PROCESS_ORPHANS_H
#define TRAINYARD_NODE_PROCESS_ORPHANS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The mark: an environment variable that every process of a pod without namespaces has. Its value
 * is "<pod directory>/<container>". */
#define ORPHANS_MARK "TRAINYARD_POD"

/* Returns true if `top`, a child of the caller, and its descendants must be killed. */
typedef bool orphans_choose(void *context, pid_t top);

/* Kills the descendants of the caller, repeatedly until none is left. `choose` decides for each
 * child of the caller; if it is NULL, all are killed. Orphans are found only if the caller is a
 * subreaper (PR_SET_CHILD_SUBREAPER). Returns false if processes are left after a few seconds. */
bool orphans_end_below(orphans_choose *choose, void *context);

/* Writes the mark of a process to `ret`, or "" if it has none that can be read. */
void orphans_mark_of(pid_t pid, char *ret, size_t size);

/* Kills all processes whose mark is a path one or two levels below `path`, repeatedly until none is
 * left or a few seconds have passed. A mark with a name that begins with a dot does not count.
 * `spare` gets the mark and returns true if the process must be kept; it may be NULL. Returns the
 * number of processes that the first search has killed. */
typedef bool orphans_spare(void *context, const char *mark);
size_t orphans_end_marked(const char *path, orphans_spare *spare, void *context);

#endif
