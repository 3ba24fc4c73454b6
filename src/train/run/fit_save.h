/* The checkpoints of a synchronous run: the one it is resumed from, and those it writes. Only
 * fit_loop calls it, on the worker of rank 0. */
#ifndef TRAINYARD_TRAIN_RUN_FIT_SAVE_H
#define TRAINYARD_TRAIN_RUN_FIT_SAVE_H

#include "train/run/fit_loop.h"

/* Loads the newest readable checkpoint into parameters and optimizer; the step is 0 if there is
 * none. Also makes and locks the directory, starts the writer thread, and removes files that an
 * earlier run left half-written. */
int fit_save_restore(struct fit_loop *loop, uint64_t *ret_step, struct err *err);

/* This worker writes the checkpoints from now on, maybe instead of another. Locks the directory if
 * it is free; later saves try again. */
void fit_save_take_over(struct fit_loop *loop);

/* Another worker writes the checkpoints from now on. Waits for the write in progress and unlocks
 * the directory. */
void fit_save_hand_over(struct fit_loop *loop);

/* Saves the state in the background. A failed write is logged later. Returns -ERR_INVALID if a
 * value is not a finite number; no checkpoint is made then. */
int fit_save_put(struct fit_loop *loop, uint64_t step, struct err *err);

/* Logs the results of earlier background saves. Cheap. */
void fit_save_tell(struct fit_loop *loop);

/* Saves the state and waits until it is on disk. */
int fit_save_now(struct fit_loop *loop, uint64_t step, struct err *err);

/* Extends `err`, which says that training has diverged, with the last good checkpoint and with what
 * to try. Returns -ERR_INVALID. */
int fit_save_advise(struct fit_loop *loop, struct err *err);

#endif
