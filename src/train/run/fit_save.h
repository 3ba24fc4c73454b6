/* Reads and writes the checkpoints of a synchronous run. Only the files fit_*.c of this folder call
 * these functions. fit_save_hand_over() and fit_save_advise() may be called on every worker. The
 * other functions are called on the worker that writes the files (rank 0), or that wrote them until
 * the group broke. */
#ifndef TRAINYARD_TRAIN_RUN_FIT_SAVE_H
#define TRAINYARD_TRAIN_RUN_FIT_SAVE_H

#include "train/run/fit_loop.h"

/* Loads the newest readable checkpoint into parameters, optimizer and learned floats, and sets
 * *ret_step to its step. If there is no such checkpoint, returns 0 and changes none of them.
 * Returns an error if the model, the seed, a kept option (fit_options.h), the shapes or the
 * optimizer of the checkpoint differ from this run. First creates and locks the directory, starts
 * the writer thread, and removes temporary files of earlier runs. Renames damaged checkpoints. */
int fit_save_restore(struct fit_loop *loop, uint64_t *ret_step, struct err *err);

/* Called when this worker has become the writer of checkpoints. Locks the directory if this worker
 * does not have the lock. If it cannot be locked, each later save tries again. */
void fit_save_take_over(struct fit_loop *loop);

/* Called when another worker has become the writer of checkpoints. Waits until all copies are
 * written and unlocks the directory. */
void fit_save_hand_over(struct fit_loop *loop);

/* Copies the state, which the writer thread then saves in the background. Returns -ERR_INVALID if a
 * value is not a finite number; then no checkpoint is written. Logs any other failure and returns
 * 0. */
int fit_save_put(struct fit_loop *loop, uint64_t step, struct err *err);

/* Logs the results of the saves that have ended since the previous call. May be called after every
 * step, because it is cheap. */
void fit_save_log_results(struct fit_loop *loop);

/* Saves the state and waits until it is on disk. Returns 0, -ERR_INVALID if a value is not a finite
 * number, or the error of the write. */
int fit_save_now(struct fit_loop *loop, uint64_t step, struct err *err);

/* Called after training has diverged. Adds the path of the newest checkpoint, if there is one, and
 * advice to the message of `err`. Returns -ERR_INVALID. */
int fit_save_advise(struct fit_loop *loop, struct err *err);

#endif
