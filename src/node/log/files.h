/* The files of one run of a container as a reader finds them: numbered parts, oldest first, and the
 * one that is written now. While it reads, the supervisor may set a file aside or remove the oldest
 * (step/log.h): whoever holds one open finds the next all the same, none twice and none left out.
 */
#ifndef TRAINYARD_NODE_LOG_FILES_H
#define TRAINYARD_NODE_LOG_FILES_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* The oldest file, or with `tail_lines` not negative the one in which the last lines begin, and
 * where they do. */
int node_log_files_open(const char *path, int64_t tail_lines, int *ret_fd, int64_t *ret_offset,
                        struct err *err);

/* The file after the one held open; -1: that is the last. */
int node_log_files_next(const char *path, int fd);

/* True if both descriptors are of one file. */
bool node_log_files_same(int a, int b);

#endif
