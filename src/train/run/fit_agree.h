/* Brings all workers to the same state before they train together: step, parameters, optimizer
 * slots and the model's other learned floats. fit_loop calls fit_agree() each time the group has
 * formed. */
#ifndef TRAINYARD_TRAIN_RUN_FIT_AGREE_H
#define TRAINYARD_TRAIN_RUN_FIT_AGREE_H

#include "train/run/fit_loop.h"

/* All workers must call it. If some workers have the state of the run, all workers copy it from the
 * worker that has done the most steps, unless all have the same state. The workers that copy are
 * new, or at most one step behind. If no worker has the state, rank 0 reads the newest checkpoint,
 * or sets the first values of a new run, and sends this state to all workers. A worker keeps its
 * own state until the new state has arrived completely. The caller sets *step to the number of
 * steps that this worker has done. On success *step is the number of steps that the run has done,
 * and loop->settled is set. */
int fit_agree(struct fit_loop *loop, uint64_t *step, struct err *err);

#endif
