/* Writes checkpoints in the background. The training thread copies the state between two steps, and
 * a writer thread brings the copy to the disk during the next steps. One copy is being written and
 * one may wait; a newer copy replaces the waiting one. A failed write does not end the training:
 * the training thread polls for it. Only the training thread calls these functions. */
#ifndef TRAINYARD_TRAIN_RUN_CHECKPOINT_WRITER_H
#define TRAINYARD_TRAIN_RUN_CHECKPOINT_WRITER_H

#include "train/run/checkpoint.h"

#include <stdbool.h>

struct checkpoint_writer;

/* Starts a writer into an existing directory, of which the `keep` newest checkpoints stay. */
int checkpoint_writer_new(const char *directory, size_t keep, struct checkpoint_writer **ret,
                          struct err *err);
/* Waits for the write in progress. NULL-safe; returns NULL. */
struct checkpoint_writer *checkpoint_writer_free(struct checkpoint_writer *writer);
DEFINE_CLEANUP(checkpoint_writer)

/* Copies values, optimizer slots and everything that `info` points to; never waits for the disk.
 * The table of names and shapes in `params` is not copied and must outlive the write. */
void checkpoint_writer_put(struct checkpoint_writer *writer, const struct params *params,
                           const struct optimizer *optimizer, const struct checkpoint_info *info);

struct checkpoint_writer_report {
    uint64_t written, failed, replaced; /* checkpoints since the last poll */
    uint64_t good;                      /* step of the last checkpoint that was written; 0: none */
    struct err error;    /* of the last failed write; only set if `failed` is not 0 */
    struct err unpruned; /* code not 0: why an old checkpoint could not be removed */
};

/* Returns what has happened since the last poll. */
void checkpoint_writer_poll(struct checkpoint_writer *writer, struct checkpoint_writer_report *ret);

/* Waits until nothing is left to write. Returns the error of the last checkpoint if that could not
 * be written. checkpoint_writer_poll() still reports the others. */
int checkpoint_writer_drain(struct checkpoint_writer *writer, struct err *err);

#endif
