/* Processes that no namespace holds together: found by who their parents are, or by a mark in their
 * environment, and ended. For pods without namespaces (docs/design/plain.md); a process that has a
 * PID namespace needs none of it. */
#ifndef TRAINYARD_NODE_PROCESS_STRAYS_H
#define TRAINYARD_NODE_PROCESS_STRAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Every process of such a pod has this variable: "<pod directory>/<container>". */
#define ORPHANS_MARK "TRAINYARD_POD"

/* Whether to end what descends from `top`, a child of the caller. */
typedef bool orphans_choose(void *context, pid_t top);

/* SIGKILL to all that descends from the caller, again until nothing is left; `choose` may be NULL:
 * all of it. Only a subreaper has its orphans, too. False if something does not die. */
bool orphans_end_below(orphans_choose *choose, void *context);

/* The mark of a process in `ret`, "" if it has none that we can read. */
void orphans_mark_of(pid_t pid, char *ret, size_t size);

/* SIGKILL to all whose mark is one or two names below this path, again until nothing is left. A
 * name that begins with a dot is none. `spare` may be NULL; it is asked with the mark. Returns how
 * many there were. */
typedef bool orphans_spare(void *context, const char *mark);
size_t orphans_end_marked(const char *path, orphans_spare *spare, void *context);

#endif
