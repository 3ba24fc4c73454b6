/* What workers must have in common before they go on together: the step, the parameters, the
 * optimizer's memory and what the model has learned beside them. Called by fit_loop after every
 * forming of the group. */
#ifndef TRAINYARD_TRAIN_FIT_AGREE_H
#define TRAINYARD_TRAIN_FIT_AGREE_H

#include "train/run/fit_loop.h"

/* If some worker has the state of the run, the others take it over from the one that came farthest;
 * a worker is at most one step behind, or new. If nobody has, rank 0 reads the newest checkpoint
 * and gives that to all. A worker loses nothing it has before it has the new state as a whole.
 * `step` is the one this worker has done; then the one all have. */
int fit_agree(struct fit_loop *loop, uint64_t *step, struct err *err);

#endif
