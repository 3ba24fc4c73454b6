/* File helpers: read a whole file within a limit, write a file atomically, make and remove
 * directory trees. All these functions block. */
#ifndef TRAINYARD_BASE_SYSTEM_FILE_H
#define TRAINYARD_BASE_SYSTEM_FILE_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* Appends the whole file to `buf`. Returns 0, -ERR_TOO_LARGE if the buffer would exceed its
 * maximum, or another error if the file cannot be read. After an error, `buf` may contain a part of
 * the file. */
int file_read(const char *path, struct buf *buf, struct err *err);

/* Writes a temporary file, syncs it, renames it to `path` and syncs the directory. After a crash
 * the file has either the old or the new content. */
int file_write_atomic(const char *path, const void *data, size_t size, mode_t mode,
                      struct err *err);

/* Writes a temporary file and renames it to `path`, without waiting for the disk. Readers see the
 * old or the new content, but after a crash of the machine the file may be empty. Used for files
 * that need not survive such a crash. */
int file_replace(const char *path, const void *data, size_t size, mode_t mode, struct err *err);

/* Writes into an existing file without creating or truncating the file. Used for the settings in
 * /proc and /sys. */
int file_write_into(const char *path, const char *text, struct err *err);

/* Like mkdir -p. `mode` is the mode of new directories, without the bits of the umask. */
int file_make_dirs(const char *path, mode_t mode, struct err *err);
/* Like rm -rf. A missing path is not an error. Stays on one file system and follows no symlink. The
 * tree may have any depth. */
int file_remove_tree(const char *path, struct err *err);
bool file_exists(const char *path);

/* Identifies one version of a file without reading it. Kubernetes replaces mounted files by
 * pointing a symlink to a new directory. Then the inode changes even if size and time stay the
 * same. */
struct file_stamp {
    uint64_t inode, size;
    struct timespec changed; /* time of the last modification */
};
/* Returns false and does not change `ret` if stat() fails, for example because the file does not
 * exist. */
bool file_stamp_get(const char *path, struct file_stamp *ret);
bool file_stamp_eq(const struct file_stamp *a, const struct file_stamp *b);

/* Writes all bytes to a blocking descriptor; continues after short writes and signals. */
int file_write_all(int fd, const void *data, size_t size, struct err *err);

#endif
