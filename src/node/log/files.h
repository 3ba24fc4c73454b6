/* Reads the log files of one run of a container: numbered files, oldest first, and the current file
 * without a number. While a reader works, the supervisor may give the current file a number or
 * remove the oldest file (step/log.h). A reader still finds the file that follows its open file. It
 * reads no file twice and skips no existing file. Used by log/stream.c. */
#ifndef TRAINYARD_NODE_LOG_FILES_H
#define TRAINYARD_NODE_LOG_FILES_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A position in the log files. The caller closes `fd`. */
struct node_log_place {
    int fd;
    int64_t offset; /* the first byte that is not consumed yet; the caller advances it */
    int64_t size;   /* the size of the file just before the previous read */
};

/* Opens the oldest file at offset 0. If `tail_lines` is not negative, opens the place where the
 * last `tail_lines` lines begin instead. `path` is the current file. */
int node_log_files_open(const char *path, int64_t tail_lines, struct node_log_place *ret,
                        struct err *err);

/* Reads at the place, like pread(). Does not change `offset`. */
ssize_t node_log_files_read(struct node_log_place *place, void *data, size_t size);

/* Must be called after a read that reached the end of the file. Returns false if there is no next
 * file yet. Otherwise moves to the next file, or stays in the open file if that file has grown
 * since the read, and returns true. */
bool node_log_files_go_on(const char *path, struct node_log_place *place);

/* Returns true if both descriptors refer to the same file. */
bool node_log_files_same(int a, int b);

#endif
