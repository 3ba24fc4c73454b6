/* What TensorBoard draws: a file of events, each the value of some quantity at some step. Written
 * by the worker that speaks for the run, as training goes on; every record is whole on disk or not
 * there, for a reader follows the file while it grows. */
#ifndef TRAINYARD_TRAIN_EVENT_FILE_H
#define TRAINYARD_TRAIN_EVENT_FILE_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct event_file;

/* A new file "events.out.tfevents.SECONDS.HOST.PID" in the directory, which is made. A run that is
 * resumed after `first_step` tells TensorBoard to forget what an earlier one said of later steps.
 */
int event_file_open(const char *directory, int64_t now_ms, uint64_t first_step,
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

/* All at one step, in one record. */
int event_file_add(struct event_file *file, int64_t now_ms, uint64_t step,
                   const struct event_scalar *scalars, size_t count, struct err *err);

#endif
