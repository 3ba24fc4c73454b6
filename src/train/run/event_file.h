/* Writes a file of events for TensorBoard. An event has the values of some metrics at one step. The
 * worker that reports for the run writes the file during the training. TensorBoard reads the file
 * while the file grows, so every record is appended with one write(). */
#ifndef TRAINYARD_TRAIN_RUN_EVENT_FILE_H
#define TRAINYARD_TRAIN_RUN_EVENT_FILE_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct event_file;

/* Creates the file "events.out.tfevents.SECONDS.HOST.PID" in `directory`, and the directory if it
 * is missing. If `steps_done` is not 0, the file continues earlier files of the run after that
 * step. TensorBoard then discards the values of later steps in the earlier files. Returns 0, or the
 * error of the file system. The caller closes the file. */
int event_file_open(const char *directory, int64_t now_ms, uint64_t steps_done,
                    struct event_file **ret, struct err *err);
struct event_file *event_file_close(struct event_file *file); /* NULL-safe; returns NULL */

static inline void cleanup_event_file(struct event_file **file)
{
    event_file_close(*file);
}

struct event_scalar {
    const char *tag; /* "loss" */
    double value;
};

/* Appends one record with `count` scalars of one step. On failure, removes a part of the
 * record that was written, so that a later call may succeed. */
int event_file_add(struct event_file *file, int64_t now_ms, uint64_t step,
                   const struct event_scalar *scalars, size_t count, struct err *err);

#endif
