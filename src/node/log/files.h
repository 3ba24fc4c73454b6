/* The files of one run of a container as a reader finds them: numbered parts, oldest first, and the
 * one that is written now. While it reads, the supervisor may set a file aside or remove the oldest
 * (step/log.h): whoever holds one open finds the next all the same, none twice and none left out.
 */
#ifndef TRAINYARD_NODE_LOG_FILES_H
#define TRAINYARD_NODE_LOG_FILES_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct node_log_place {
    int fd;
    int64_t offset; /* of what was not used yet; the reader moves it */
    int64_t size;   /* of the file, just before it was read last */
};

/* In the oldest file, or with `tail_lines` not negative where the last lines begin. */
int node_log_files_open(const char *path, int64_t tail_lines, struct node_log_place *ret,
                        struct err *err);

/* What lies there, as pread() gives it. */
ssize_t node_log_files_read(struct node_log_place *place, void *data, size_t size);

/* Nothing of use was read here: go on in the next file, or here if it has grown meanwhile. False:
 * there is nothing more now. */
bool node_log_files_go_on(const char *path, struct node_log_place *place);

/* True if both descriptors are of one file. */
bool node_log_files_same(int a, int b);

#endif
