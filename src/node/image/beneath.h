/* Opens, creates and removes files below the root directory of an image, by untrusted paths. The
 * kernel resolves each path as if that directory were the root, so that neither ".." nor a symbolic
 * link leads outside. A path that enters another file system is refused. */
#ifndef TRAINYARD_NODE_IMAGE_BENEATH_H
#define TRAINYARD_NODE_IMAGE_BENEATH_H

#include "base/err.h"

#include <dirent.h>

/* Opens the directory at `path` below `root` with O_PATH. Follows symbolic links. The path "" is
 * the root itself. The caller closes `*ret_fd`. */
int beneath_open_directory(int root, const char *path, int *ret_fd, struct err *err);
/* Like beneath_open_directory(), but creates missing directories. */
int beneath_make_directories(int root, const char *path, int *ret_fd, struct err *err);
/* Opens the directory at `path` for reading. No part of the path may be a symbolic link. Returns a
 * descriptor, or -1 with errno. */
int beneath_open_exactly(int root, const char *path);
/* Opens a regular file for reading. Follows symbolic links. Returns -ERR_INVALID if the path leads
 * to another kind of file, such as a device. */
int beneath_open_file(int root, const char *path, int *ret_fd, struct err *err);

/* In the functions below, `name` is one name in the directory `parent`, not a path. */

/* Opens a directory for listing. Does not follow a symbolic link. Returns NULL on failure. The
 * caller closes it with closedir(). */
DIR *beneath_list(int parent, const char *name, struct err *err);
/* Removes a file or a directory with its content, even if directories are not writable. Returns 0
 * also if it does not exist. */
int beneath_remove(int parent, const char *name, struct err *err);

#endif
