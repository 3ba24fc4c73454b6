/* Writes the log files of one run of a container. Only the pod's supervisor uses it. Each time
 * <container>.<run>.log has become large, it is renamed to <container>.<run>.log.1, .2, …. Above
 * LOG_FILES_MAX files, the oldest one is removed. No number is used twice, so a reader can always
 * find the next file (log/files.h). */
#ifndef TRAINYARD_NODE_STEP_LOG_H
#define TRAINYARD_NODE_STEP_LOG_H

#include "base/buf.h"
#include "base/err.h"

#include <stdint.h>

struct step_log {
    char *path;    /* <directory>/logs/<container>.<run>.log; NULL if no log is open */
    int fd;        /* -1 if the file could not be opened; the next write tries again */
    int64_t size;  /* bytes in the current file */
    int64_t parts; /* files renamed so far */
    int64_t lost;  /* bytes that could not be written since the previous successful write */
};

void step_log_init(struct step_log *log);
/* Opens the log of run `run` (the restart count) and closes the previous one. Returns a negative
 * code if the file cannot be opened. The caller calls step_log_close() in each case. */
int step_log_open(struct step_log *log, const char *directory, const char *container, int64_t run,
                  struct err *err);
/* Writes whole records. If they cannot be written, for example because the disk is full, they are
 * lost, but the container keeps running. When a write succeeds again, a line in the log says how
 * many bytes are missing. */
void step_log_write(struct step_log *log, const struct buf *records);
void step_log_close(struct step_log *log); /* safe to call twice */

/* Removes all files of this run. */
void step_log_remove(const char *directory, const char *container, int64_t run);

#endif
