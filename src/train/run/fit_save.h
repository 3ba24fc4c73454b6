/* Reads and writes the checkpoints of a synchronous run. Only the files fit_*.c of this folder call
 * these functions, on rank 0 except fit_save_hand_over(). */
#ifndef TRAINYARD_TRAIN_RUN_FIT_SAVE_H
#define TRAINYARD_TRAIN_RUN_FIT_SAVE_H

#include "train/run/fit_loop.h"

/* Loads the newest readable checkpoint into parameters, optimizer and learned floats, and sets
 * *ret_step to its step. If there is no checkpoint, returns 0 and changes none of them. Also
 * creates and locks the directory, starts the writer thread, and removes temporary files of earlier
 * runs. */
int fit_save_restore(struct fit_loop *loop, uint64_t *ret_step, struct err *err);

/* Called when this worker has become the writer of checkpoints. Locks the directory if this worker
 * does not have the lock. If that fails, each later save tries again. */
void fit_save_take_over(struct fit_loop *loop);

/* Called when another worker has become the writer of checkpoints. Waits until all copies are
 * written and unlocks the directory. */
void fit_save_hand_over(struct fit_loop *loop);

/* Saves the state in the background. Returns -ERR_INVALID if a value is not a finite number; then
 * no checkpoint is written. Any other failure is logged, and 0 is returned. */
int fit_save_put(struct fit_loop *loop, uint64_t step, struct err *err);

/* Logs the results of the saves that have ended since the last call. May be called after every
 * step, because it is cheap. */
void fit_save_tell(struct fit_loop *loop);

/* Saves the state and waits until it is on disk. Returns the error if that fails. */
int fit_save_now(struct fit_loop *loop, uint64_t step, struct err *err);

/* Called after training has diverged. Adds the last good checkpoint and advice to the message of
 * `err`. Returns -ERR_INVALID. */
int fit_save_advise(struct fit_loop *loop, struct err *err);

#endif
