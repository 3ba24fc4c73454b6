/* The log files of one run of a container, as its supervisor writes them. <run>.log is renamed to
 * <run>.log.1, .2, … each time it has become large, and the oldest of these are removed. A number
 * is never used twice, so that a reader always knows which file comes next (log/files.h). */
#ifndef TRAINYARD_NODE_STEP_LOG_H
#define TRAINYARD_NODE_STEP_LOG_H

#include "base/buf.h"
#include "base/err.h"

#include <stdint.h>

struct step_log {
    char *path;
    int fd;
    int64_t size;
    int64_t parts; /* files renamed so far */
    int64_t lost;  /* bytes lost since the last successful write, because the disk was full */
};

void step_log_init(struct step_log *log);
int step_log_open(struct step_log *log, const char *directory, const char *container, int64_t run,
                  struct err *err);
/* Writes whole records. A full disk loses records but does not stop the container. As soon as
 * there is room, a line says how many bytes are missing. */
void step_log_write(struct step_log *log, const struct buf *records);
void step_log_close(struct step_log *log); /* safe to call twice */

/* Removes all files of this run. */
void step_log_remove(const char *directory, const char *container, int64_t run);

#endif
