/* Opens untrusted paths below a directory. The kernel resolves each path as if that directory were
 * the root, so that neither ".." nor a symbolic link leads outside, even if the link was created a
 * moment ago. */
#ifndef TRAINYARD_NODE_IMAGE_BENEATH_H
#define TRAINYARD_NODE_IMAGE_BENEATH_H

#include "base/err.h"

#include <dirent.h>

/* Opens the directory at `path` with O_PATH; the path may contain links that stay inside. "" is
 * the root itself. */
int beneath_open_directory(int root, const char *path, int *ret_fd, struct err *err);
/* Like beneath_open_directory(), and creates missing directories. */
int beneath_make_directories(int root, const char *path, int *ret_fd, struct err *err);
/* Opens the directory at `path` for reading; no component may be a link. Returns -1 and sets errno
 * on failure. */
int beneath_open_exactly(int root, const char *path);
/* Opens a file for reading, through links that stay inside. Refuses anything that is not a regular
 * file. */
int beneath_open_file(int root, const char *path, int *ret_fd, struct err *err);

/* Opens the directory `name` in `parent` for listing. Returns NULL on failure. */
DIR *beneath_list(int parent, const char *name, struct err *err);
/* Removes the file or the whole tree `name`, even if its directories are not writable. Returns 0 if
 * nothing is there. */
int beneath_remove(int parent, const char *name, struct err *err);

#endif
