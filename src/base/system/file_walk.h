/* Walks a tree of files that other processes may change during the walk. The number of open
 * descriptors does not grow with the depth of the tree. The walk follows no symlink and enters no
 * other file system. When the walk returns to a parent directory, it checks that the inode is the
 * same as before. So a directory that is moved during the walk does not lead out of the tree. */
#ifndef TRAINYARD_BASE_SYSTEM_FILE_WALK_H
#define TRAINYARD_BASE_SYSTEM_FILE_WALK_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct file_walk {
    /* Called for every entry; for a directory, after its contents. `directory` is a descriptor of
     * the parent, possibly opened with O_PATH. Returns 0 or ENOENT to continue. Any other errno
     * ends the walk with that error. */
    int (*visit)(void *context, int directory, const char *name, const struct stat *info);
    void *context;
    const char *verb; /* for the error message: "cannot <verb> '<path>': …" */
    bool open_up; /* set mode 0700 on a directory without these permissions before entering it */
    /* If not NULL, incremented for each directory that cannot be entered for lack of permission;
     * the directory is visited without its contents. If NULL, such a directory ends the walk with
     * an error. */
    size_t *closed;
    /* Limits of the tree. If one is exceeded, the walk ends with E2BIG. */
    size_t *entries_left; /* number of entries that may still be found; the walk decrements it;
                             NULL: no limit */
    size_t depth_max;     /* number of nested directories, including `path`; 0: no limit */
    size_t names_max;     /* bytes of the names of directories that must still be walked; 0: 1 GiB,
                             beyond which the walk ends with ENOMEM */
};

/* Walks `path` and everything below it. Returns 0, -ERR_INVALID if `path` does not end with a name,
 * or an error for the errno that ended the walk. Returns 0 without a visit if `path` does not
 * exist. */
int file_walk(const struct file_walk *walk, const char *path, struct err *err);

#endif
