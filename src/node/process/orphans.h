/* Finds and kills the processes of pods without namespaces (docs/design/plain.md), as descendants
 * of the caller or by a mark in their environment. The supervisor and the first process of a
 * container use it. The control process uses it to measure usage and, like 'trainyard down', to end
 * processes that a supervisor left. The functions that kill block for up to several seconds. */
#ifndef TRAINYARD_NODE_PROCESS_ORPHANS_H
#define TRAINYARD_NODE_PROCESS_ORPHANS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The mark: an environment variable that the planner sets in each container of a pod without
 * namespaces. Its value is "<pod directory>/<container>". */
#define ORPHANS_MARK "TRAINYARD_POD"

/* Returns true if the process `top`, a child of the caller, must be killed with all its
 * descendants. */
typedef bool orphans_choose(void *context, pid_t top);

/* Kills the descendants of the caller, and searches again until none is left. `choose` decides for
 * each child of the caller; if it is NULL, all children are chosen. Processes whose parent has
 * ended are found only if the caller is a subreaper (PR_SET_CHILD_SUBREAPER). Returns true, or
 * false if processes are left after a few seconds. */
bool orphans_end_below(orphans_choose *choose, void *context);

/* Writes the mark of a process to `ret`, or "" if it has no mark or the mark cannot be read. */
void orphans_mark_of(pid_t pid, char *ret, size_t size);

/* Returns true if the process with this mark must be kept. */
typedef bool orphans_spare(void *context, const char *mark);
/* Kills all processes whose mark is a path one or two levels below `path`, and searches again until
 * none is left or a few seconds have passed. A mark with a name that begins with a dot is ignored.
 * `spare` may be NULL. Returns the number of processes that the first search has killed. */
size_t orphans_end_marked(const char *path, orphans_spare *spare, void *context);

#endif
