/* The log files of one run of a container, as its supervisor writes them: <run>.log, which is set
 * aside as <run>.log.1, .2, … each time it has grown large; of those the oldest are removed. A
 * number is never given twice, so a reader always knows which file comes next (log/files.h). */
#ifndef TRAINYARD_NODE_STEP_LOG_H
#define TRAINYARD_NODE_STEP_LOG_H

#include "base/buf.h"
#include "base/err.h"

#include <stdint.h>

struct step_log {
    char *path;
    int fd;
    int64_t size;
    int64_t parts; /* set aside so far */
    int64_t lost;  /* bytes that found no room since the last that did */
};

void step_log_init(struct step_log *log);
int step_log_open(struct step_log *log, const char *directory, const char *container, int64_t run,
                  struct err *err);
/* Whole records. A full disk loses them, not the container; once there is room, a line says how
 * much is missing. */
void step_log_write(struct step_log *log, const struct buf *records);
void step_log_close(struct step_log *log); /* safe twice */

/* Remove all files of that run. */
void step_log_remove(const char *directory, const char *container, int64_t run);

#endif
