/* Paths of a stranger below a directory of ours: the kernel resolves them as if that directory were
 * the root, so that neither "..", nor a link, nor one that was put there a moment ago, leads out.
 */
#ifndef TRAINYARD_NODE_IMAGE_BENEATH_H
#define TRAINYARD_NODE_IMAGE_BENEATH_H

#include "base/err.h"

#include <dirent.h>

/* The directory at `path`, which may go through links inside; as a place (O_PATH) to work in. "" is
 * the root itself. */
int beneath_open_directory(int root, const char *path, int *ret_fd, struct err *err);
/* The same; what is missing on the way is made. */
int beneath_make_directories(int root, const char *path, int *ret_fd, struct err *err);
/* The directory at `path` itself, for reading, and through no link; -1 with errno. */
int beneath_open_exactly(int root, const char *path);
/* A file for reading, through links inside; what is no plain file is refused. */
int beneath_open_file(int root, const char *path, int *ret_fd, struct err *err);

/* The entries of a directory in `parent`; NULL is an error. */
DIR *beneath_list(int parent, const char *name, struct err *err);
/* Remove what lies there, whole trees, whatever their modes; missing is fine. */
int beneath_remove(int parent, const char *name, struct err *err);

#endif
