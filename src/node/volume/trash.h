/* Removes directories that may hold millions of files: data of claims, and directories that pods
 * of a job shared. They are renamed at once, and one thread of the pool removes them, never two,
 * because others need the pool. A server removes at its start what the server before left. */
#ifndef TRAINYARD_NODE_VOLUME_TRASH_H
#define TRAINYARD_NODE_VOLUME_TRASH_H

#include "loop/loop.h"

struct trash;

struct trash *trash_new(struct loop *loop, const char *state_dir);
/* A removal in progress goes on to its end. */
struct trash *trash_free(struct trash *trash);

/* `path` must be on the file system of the cluster's volumes, and `name` must be unique. Returns
 * false if the directory is missing or cannot be moved. */
bool trash_throw(struct trash *trash, const char *path, const char *name);

#endif
