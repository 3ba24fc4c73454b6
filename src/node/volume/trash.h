/* Removes directories that may contain millions of files: data of claims, and directories that pods
 * of a job shared. They are renamed at once and removed later by a thread of the pool. At most one
 * thread does this, because other work needs the pool too. At its start, a server removes the
 * directories that an earlier server left. */
#ifndef TRAINYARD_NODE_VOLUME_TRASH_H
#define TRAINYARD_NODE_VOLUME_TRASH_H

#include "loop/loop.h"

struct trash;

struct trash *trash_new(struct loop *loop, const char *state_dir);
/* Frees the trash. A removal in progress continues to its end. */
struct trash *trash_free(struct trash *trash);

/* Moves the directory `path` to the trash under `name`, which must be unique. `path` must be on the
 * file system of the cluster's volumes. Returns false if the directory is missing or cannot be
 * moved. */
bool trash_throw(struct trash *trash, const char *path, const char *name);

#endif
