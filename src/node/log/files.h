/* The log files of one run of a container, as a reader sees them: numbered parts, oldest first,
 * and the current file. While a reader works, the supervisor may rename the current file or remove
 * the oldest (step/log.h). A reader that holds a file open still finds the next one; it reads no
 * file twice and skips none that exists. */
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
    int64_t size;   /* of the file, just before the last read */
};

/* Opens the oldest file. If `tail_lines` is not negative, opens the file and offset at which that
 * many last lines begin. */
int node_log_files_open(const char *path, int64_t tail_lines, struct node_log_place *ret,
                        struct err *err);

/* Like pread() at the place. */
ssize_t node_log_files_read(struct node_log_place *place, void *data, size_t size);

/* Nothing useful was read here: continues in the next file, or in the same if it has grown.
 * Returns false if there is nothing more now. */
bool node_log_files_go_on(const char *path, struct node_log_place *place);

/* Returns true if both descriptors refer to the same file. */
bool node_log_files_same(int a, int b);

#endif
