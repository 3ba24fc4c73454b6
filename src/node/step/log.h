/* Writes the log files of one run of a container, in its supervisor. Each time
 * <container>.<run>.log has become large, it is renamed to <container>.<run>.log.1, .2, …. Above
 * LOG_FILES_MAX files, the oldest one is removed. No number is used twice, so a reader can always
 * find the next file (log/files.h). */
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
/* Writes whole records. If the disk is full, records are lost, but the container keeps running.
 * When there is room again, a line in the log says how many bytes are missing. */
void step_log_write(struct step_log *log, const struct buf *records);
void step_log_close(struct step_log *log); /* safe to call twice */

/* Removes all files of this run. */
void step_log_remove(const char *directory, const char *container, int64_t run);

#endif
