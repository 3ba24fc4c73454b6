/* The checkpoints of a run in step: where it goes on from, and what it leaves while it goes on.
 * Called by fit_loop alone, by the worker of rank 0. */
#ifndef TRAINYARD_TRAIN_FIT_SAVE_H
#define TRAINYARD_TRAIN_FIT_SAVE_H

#include "train/run/fit_loop.h"

/* The newest checkpoint that can be read, into parameters and optimizer; 0 if there is none. The
 * directory is made and claimed, what is needed to write there is started, and what an earlier run
 * left half written is removed. */
int fit_save_restore(struct fit_loop *loop, uint64_t *ret_step, struct err *err);

/* This worker writes from here on, maybe in the place of another: the directory becomes its own as
 * soon as it can. */
void fit_save_take_over(struct fit_loop *loop);

/* Another worker writes from here on: what is under way comes to its end, and the directory is free
 * for that one. */
void fit_save_hand_over(struct fit_loop *loop);

/* The state as it is, in the background. What comes of it is told later; ERR_INVALID: it is not a
 * number any more, and no checkpoint of it is made. */
int fit_save_put(struct fit_loop *loop, uint64_t step, struct err *err);

/* Say what came of earlier ones; cheap. */
void fit_save_tell(struct fit_loop *loop);

/* The state as it is, on disk before this returns. */
int fit_save_now(struct fit_loop *loop, uint64_t step, struct err *err);

/* Training has run away, as `err` says: what is left, and what to try. Returns -ERR_INVALID. */
int fit_save_advise(struct fit_loop *loop, struct err *err);

#endif
