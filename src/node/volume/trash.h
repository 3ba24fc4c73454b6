/* Removes directories that may contain millions of files: data of claims, and directories that pods
 * of a job shared. A directory is moved to the trash at once, and removed later by a thread of the
 * pool. At most one thread removes directories, because other work needs the pool too. All
 * functions must be called on the loop thread. */
#ifndef TRAINYARD_NODE_VOLUME_TRASH_H
#define TRAINYARD_NODE_VOLUME_TRASH_H

#include "loop/loop.h"

struct trash;

/* Creates the trash, and starts to remove the directories that an earlier server left in it. */
struct trash *trash_new(struct loop *loop, const char *state_dir);
/* Frees the trash and returns NULL. A removal in progress continues to its end. The next server
 * removes what is left. */
struct trash *trash_free(struct trash *trash);

/* Moves the directory `path` to the trash under `name`, which must be unique and must not begin
 * with a dot. `path` must be on the file system of the cluster's volumes. Returns false if the
 * directory is missing, or if it cannot be moved, which is logged. */
bool trash_throw(struct trash *trash, const char *path, const char *name);

#endif
