/* Reads and writes the checkpoints of a synchronous run. Only fit_loop calls these functions, on
 * rank 0. */
#ifndef TRAINYARD_TRAIN_RUN_FIT_SAVE_H
#define TRAINYARD_TRAIN_RUN_FIT_SAVE_H

#include "train/run/fit_loop.h"

/* Loads the newest readable checkpoint into parameters and optimizer. Sets *ret_step to its step,
 * or to 0 if there is no checkpoint. Also creates and locks the directory, starts the writer
 * thread, and removes temporary files of earlier runs. */
int fit_save_restore(struct fit_loop *loop, uint64_t *ret_step, struct err *err);

/* Called when this worker has become the writer of checkpoints. Locks the directory if it is not
 * locked; otherwise later saves try again. */
void fit_save_take_over(struct fit_loop *loop);

/* Called when another worker has become the writer of checkpoints. Waits for the write in progress
 * and unlocks the directory. */
void fit_save_hand_over(struct fit_loop *loop);

/* Saves the state in the background. A failed write is logged later. Returns -ERR_INVALID if a
 * value is not a finite number; then no checkpoint is written. */
int fit_save_put(struct fit_loop *loop, uint64_t step, struct err *err);

/* Logs the results of earlier background saves. May be called after every step, because it is
 * cheap. */
void fit_save_tell(struct fit_loop *loop);

/* Saves the state and waits until it is on disk. */
int fit_save_now(struct fit_loop *loop, uint64_t step, struct err *err);

/* Called after training has diverged. Adds the last good checkpoint and advice to the message of
 * `err`. Returns -ERR_INVALID. */
int fit_save_advise(struct fit_loop *loop, struct err *err);

#endif
