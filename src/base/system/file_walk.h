/* Walks a tree of files that other processes may change during the walk. Only one directory is open
 * at a time, however deep the tree is. The walk follows no symlink and enters no other file system.
 * The way up is checked, so that a directory that was moved during the walk does not lead out of
 * the tree. */
#ifndef TRAINYARD_BASE_SYSTEM_FILE_WALK_H
#define TRAINYARD_BASE_SYSTEM_FILE_WALK_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct file_walk {
    /* Called for every entry, for a directory after its contents. Returns 0, or the errno that ends
     * the walk. */
    int (*visit)(void *context, int directory, const char *name, const struct stat *info);
    void *context;
    const char *verb; /* for the error message: "cannot <verb> '<path>': …" */
    bool open_up;     /* add missing permissions of the owner to directories before entering them */
    /* Counts the directories that may not be entered; they are visited all the same. NULL: the walk
     * ends there with an error. */
    size_t *closed;
    /* Limits of the tree. Beyond one of them the walk ends with E2BIG. */
    size_t *entries_left; /* decreased at each entry; NULL: no limit */
    size_t depth_max;     /* nested directories; 0: no limit */
    size_t names_max; /* bytes of names that are still to be visited; 0: the limit of file_walk.c,
                         with ENOMEM */
};

/* Walks `path` and everything below it. A missing `path` is an empty walk. */
int file_walk(const struct file_walk *walk, const char *path, struct err *err);

#endif
