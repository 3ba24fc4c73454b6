/* Opens untrusted paths below a directory. The kernel resolves each path as if that directory were
 * the root, so that neither ".." nor a symbolic link leads outside. A path that enters another file
 * system is refused. */
#ifndef TRAINYARD_NODE_IMAGE_BENEATH_H
#define TRAINYARD_NODE_IMAGE_BENEATH_H

#include "base/err.h"

#include <dirent.h>

/* Opens the directory at `path` with O_PATH. Follows symbolic links. The path "" is the root
 * itself. */
int beneath_open_directory(int root, const char *path, int *ret_fd, struct err *err);
/* Like beneath_open_directory(), and creates missing directories. */
int beneath_make_directories(int root, const char *path, int *ret_fd, struct err *err);
/* Opens the directory at `path` for reading; no component may be a link. Returns -1 and sets errno
 * on failure. */
int beneath_open_exactly(int root, const char *path);
/* Opens a regular file for reading. Follows symbolic links. Returns -ERR_INVALID for anything else,
 * such as a device. */
int beneath_open_file(int root, const char *path, int *ret_fd, struct err *err);

/* Opens the directory `name` in `parent` for listing. Returns NULL on failure. */
DIR *beneath_list(int parent, const char *name, struct err *err);
/* Removes the file or the whole tree `name`, even if its directories are not writable. Returns 0 if
 * nothing is there. */
int beneath_remove(int parent, const char *name, struct err *err);

#endif
