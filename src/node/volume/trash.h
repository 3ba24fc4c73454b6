/* Removes directories that may hold millions of files: data of claims, the directories that pods of
 * a job shared. They are moved aside at once and removed by one thread of the pool, never by two,
 * since others need the pool, too. A server removes at its start what the one before left. */
#ifndef TRAINYARD_NODE_VOLUME_TRASH_H
#define TRAINYARD_NODE_VOLUME_TRASH_H

#include "loop/loop.h"

struct trash;

struct trash *trash_new(struct loop *loop, const char *state_dir);
/* What is under way goes on to its end, unseen. */
struct trash *trash_free(struct trash *trash);

/* `path` is on the disk of the cluster's volumes; `name` is nobody else's. What is not there, or
 * cannot be moved, stays as it is: false. */
bool trash_throw(struct trash *trash, const char *path, const char *name);

#endif
