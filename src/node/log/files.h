/* Reads the log files of one run of a container: numbered parts, oldest first, and the current
 * file. While a reader works, the supervisor may rename the current file or remove the oldest
 * (step/log.h). A reader with an open file still finds the next one. It reads no file twice and
 * skips no existing file. */
#ifndef TRAINYARD_NODE_LOG_FILES_H
#define TRAINYARD_NODE_LOG_FILES_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct node_log_place {
    int fd;
    int64_t offset; /* the first byte that is not consumed; the reader advances it */
    int64_t size;   /* size of the file just before the last read */
};

/* Opens the oldest file at offset 0. If `tail_lines` is not negative, opens the place where the
 * last `tail_lines` lines begin instead. */
int node_log_files_open(const char *path, int64_t tail_lines, struct node_log_place *ret,
                        struct err *err);

/* Like pread() at the place. */
ssize_t node_log_files_read(struct node_log_place *place, void *data, size_t size);

/* Must be called at the end of a file. Moves to the next file, but stays in this file if it has
 * grown since the last read. Returns false if there is no next file yet. */
bool node_log_files_go_on(const char *path, struct node_log_place *place);

/* Returns true if both descriptors refer to the same file. */
bool node_log_files_same(int a, int b);

#endif
