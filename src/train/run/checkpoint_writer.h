/* Writes checkpoints in the background. The training thread copies the state between two steps, and
 * a writer thread writes the copy to disk during the next steps. While the thread writes one copy,
 * at most one other copy waits. A newer copy replaces the waiting copy. A failed write does not end
 * the training; checkpoint_writer_poll() reports it. Only the training thread may call these
 * functions. */
#ifndef TRAINYARD_TRAIN_RUN_CHECKPOINT_WRITER_H
#define TRAINYARD_TRAIN_RUN_CHECKPOINT_WRITER_H

#include "train/run/checkpoint.h"

#include <stdbool.h>

struct checkpoint_writer;

/* Starts the writer thread. The directory must exist. After each write, checkpoint_prune() keeps
 * `keep` checkpoints. Returns 0, or an error if the thread cannot be started. The caller frees the
 * writer. */
int checkpoint_writer_new(const char *directory, size_t keep, struct checkpoint_writer **ret,
                          struct err *err);
/* Waits until all copies are written, and ends the thread. NULL-safe; returns NULL. */
struct checkpoint_writer *checkpoint_writer_free(struct checkpoint_writer *writer);
DEFINE_CLEANUP(checkpoint_writer)

/* Copies values, optimizer slots and everything that `info` points to. The writer thread writes the
 * copy later, so this function never waits for the disk. The table of names and shapes in `params`
 * is not copied and must outlive the writer. */
void checkpoint_writer_put(struct checkpoint_writer *writer, const struct params *params,
                           const struct optimizer *optimizer, const struct checkpoint_info *info);

/* The results of the writes since the previous call of checkpoint_writer_poll(). */
struct checkpoint_writer_report {
    uint64_t written;  /* number of copies that were written */
    uint64_t failed;   /* number of copies that could not be written */
    uint64_t replaced; /* number of copies that a newer copy replaced before they were written */
    /* step of the latest checkpoint that this writer has written, also before the previous poll; 0:
     * none */
    uint64_t last_step;
    struct err error;       /* error of the latest failed write; only set if `failed` is not 0 */
    struct err prune_error; /* code not 0: why an old checkpoint could not be removed */
};

/* Sets *ret to the results since the previous call. Does not wait for a write. */
void checkpoint_writer_poll(struct checkpoint_writer *writer, struct checkpoint_writer_report *ret);

/* Waits until all copies are written or have failed. Returns the error of the latest write if it
 * failed, else 0. checkpoint_writer_poll() still reports all results. */
int checkpoint_writer_drain(struct checkpoint_writer *writer, struct err *err);

#endif
