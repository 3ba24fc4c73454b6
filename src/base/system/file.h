/* Files as this program needs them: read whole with a limit, written so that a crash leaves the old
 * or the new one and never half, trees made and removed. */
#ifndef TRAINYARD_BASE_FILE_H
#define TRAINYARD_BASE_FILE_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* Append the whole file to `buf`; over the buffer's maximum is ERR_TOO_LARGE. */
int file_read(const char *path, struct buf *buf, struct err *err);

/* Write aside, fsync, rename, fsync the directory. */
int file_write_atomic(const char *path, const void *data, size_t size, mode_t mode,
                      struct err *err);

/* Write aside and rename, without waiting for the disk: whoever reads sees the old or the new one,
 * but after a crash of the machine it may be empty. For what is made anew after a start. */
int file_replace(const char *path, const void *data, size_t size, mode_t mode, struct err *err);

/* Write into a file that is there, neither made nor cut: the switches of /proc and /sys. */
int file_write_into(const char *path, const char *text, struct err *err);

int file_make_dirs(const char *path, mode_t mode, struct err *err); /* mkdir -p */
/* rm -rf; missing is fine; stays on one file system, follows no symlink, however deep it is. */
int file_remove_tree(const char *path, struct err *err);
bool file_exists(const char *path);

/* What tells one state of a file from another without reading it. Who swaps a link to a new
 * directory, as Kubernetes does, changes the inode if nothing else. */
struct file_stamp {
    uint64_t inode, size;
    struct timespec changed;
};
/* False: there is no such file; `ret` is then untouched. */
bool file_stamp_get(const char *path, struct file_stamp *ret);
bool file_stamp_eq(const struct file_stamp *a, const struct file_stamp *b);

/* Write all of it to a descriptor, through short writes and signals. */
int file_write_all(int fd, const void *data, size_t size, struct err *err);

#endif
