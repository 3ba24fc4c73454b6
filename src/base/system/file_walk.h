/* A walk through a tree of files that others may change meanwhile, by descriptors: however deep the
 * tree is, one directory is open at a time; no symlink is followed, no other file system entered.
 * The way up is checked, so that a directory that was moved leads nowhere. */
#ifndef TRAINYARD_BASE_FILE_WALK_H
#define TRAINYARD_BASE_FILE_WALK_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct file_walk {
    /* Called for every entry, directories after what is in them. Returns 0, or the errno that ends
     * the walk. */
    int (*visit)(void *context, int directory, const char *name, const struct stat *info);
    void *context;
    const char *verb; /* of the complaint: "cannot <verb> '<path>': …" */
    bool open_up;     /* give ourselves the rights to directories that we lack */
    /* Directories that we may not enter are visited and counted here; NULL: the walk ends there. */
    size_t *closed;
    /* What the tree may be at most; beyond it the walk ends with E2BIG. */
    size_t *entries_left; /* counted down at each entry met; NULL: any number */
    size_t depth_max;     /* of directories within each other; 0: any */
    size_t names_max;     /* bytes of names that wait to be walked; 0: as many as we can hold */
};

/* Go through `path` and all below it; a missing `path` is an empty walk. */
int file_walk(const struct file_walk *walk, const char *path, struct err *err);

#endif
