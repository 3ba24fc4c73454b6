/* Brings all workers to the same state before they train together: step, parameters, optimizer
 * slots and the model's other learned floats. fit_loop calls it each time the group has formed. */
#ifndef TRAINYARD_TRAIN_RUN_FIT_AGREE_H
#define TRAINYARD_TRAIN_RUN_FIT_AGREE_H

#include "train/run/fit_loop.h"

/* If a worker has the state of the run, all others copy it from the worker with the most steps
 * done; a worker is at most one step behind, or new. If no worker has it, rank 0 reads the newest
 * checkpoint and sends it to all. A worker keeps its own state until the new one has arrived
 * completely. `step`: in, the last step of this worker; out, the last step of all. */
int fit_agree(struct fit_loop *loop, uint64_t *step, struct err *err);

#endif
