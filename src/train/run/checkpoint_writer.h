/* Checkpoints written behind the back of training: a copy of the state is taken between two steps,
 * and a thread of its own brings it to the disk while the next steps go on. One is being written
 * and one may wait; where the disk is slower than that, the one that waits is replaced by the
 * newer. A write that fails ends nothing: whoever trains asks now and then what came of it. Called
 * by the one thread that trains. */
#ifndef TRAINYARD_TRAIN_CHECKPOINT_WRITER_H
#define TRAINYARD_TRAIN_CHECKPOINT_WRITER_H

#include "train/run/checkpoint.h"

#include <stdbool.h>

struct checkpoint_writer;

/* Into a directory that is there, of which the `keep` newest stay. */
int checkpoint_writer_new(const char *directory, size_t keep, struct checkpoint_writer **ret,
                          struct err *err);
/* Waits for what is under way. NULL-safe; returns NULL. */
struct checkpoint_writer *checkpoint_writer_free(struct checkpoint_writer *writer);
DEFINE_CLEANUP(checkpoint_writer)

/* Copies values, slots and what the info points to; never waits for the disk. The table of names
 * and shapes is not copied and must outlive the write. */
void checkpoint_writer_put(struct checkpoint_writer *writer, const struct params *params,
                           const struct optimizer *optimizer, const struct checkpoint_info *info);

struct checkpoint_writer_report {
    uint64_t written, failed, replaced; /* since the last time it was asked */
    uint64_t good;                      /* the step of the last one that was written; 0: none */
    struct err error;                   /* of the last one that failed, if `failed` */
    struct err unpruned; /* code not 0: an old one could not be removed, for this reason */
};

void checkpoint_writer_poll(struct checkpoint_writer *writer, struct checkpoint_writer_report *ret);

/* Wait until nothing is left to write. An error is that of the last one, which is then not there;
 * what came of the others is still to be asked. */
int checkpoint_writer_drain(struct checkpoint_writer *writer, struct err *err);

#endif
