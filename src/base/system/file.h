/* File helpers: read a whole file within a limit, write a file so that a crash leaves the old or
 * the new content but never a part, make and remove directory trees. All of them block. */
#ifndef TRAINYARD_BASE_SYSTEM_FILE_H
#define TRAINYARD_BASE_SYSTEM_FILE_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* Appends the whole file to `buf`. Returns -ERR_TOO_LARGE if the file does not fit into the
 * buffer's maximum. */
int file_read(const char *path, struct buf *buf, struct err *err);

/* Writes a temporary file, syncs it, renames it to `path` and syncs the directory. */
int file_write_atomic(const char *path, const void *data, size_t size, mode_t mode,
                      struct err *err);

/* Writes a temporary file and renames it to `path`, without waiting for the disk. Readers see the
 * old or the new content, but after a crash of the machine the file may be empty. For files that
 * are written again after each start. */
int file_replace(const char *path, const void *data, size_t size, mode_t mode, struct err *err);

/* Writes into an existing file without creating or truncating it: for the settings in /proc and
 * /sys. */
int file_write_into(const char *path, const char *text, struct err *err);

int file_make_dirs(const char *path, mode_t mode, struct err *err); /* mkdir -p */
/* Like rm -rf: a missing path is no error. Stays on one file system and follows no symlink. The
 * tree may have any depth. */
int file_remove_tree(const char *path, struct err *err);
bool file_exists(const char *path);

/* Identifies one version of a file without reading it. Kubernetes replaces mounted files by
 * switching a symlink to a new directory: that changes the inode even if nothing else changes. */
struct file_stamp {
    uint64_t inode, size;
    struct timespec changed;
};
/* Returns false if there is no such file; `ret` is unchanged then. */
bool file_stamp_get(const char *path, struct file_stamp *ret);
bool file_stamp_eq(const struct file_stamp *a, const struct file_stamp *b);

/* Writes all bytes to a descriptor; continues after short writes and signals. */
int file_write_all(int fd, const void *data, size_t size, struct err *err);

#endif
