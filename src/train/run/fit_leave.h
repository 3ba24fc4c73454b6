/* Decides what happens when a worker is asked to stop (SIGTERM). If rank 0 is asked, or if the
 * group is not elastic, the run ends for all workers after a last checkpoint, which rank 0 writes.
 * In an elastic group, any other worker leaves, and the rest continue without it. Only fit_loop
 * calls these functions. */
#ifndef TRAINYARD_TRAIN_RUN_FIT_LEAVE_H
#define TRAINYARD_TRAIN_RUN_FIT_LEAVE_H

#include "train/run/fit_loop.h"

enum fit_leave {
    FIT_LEAVE_ALL,  /* the run ends for all workers and can be resumed */
    FIT_LEAVE_SELF, /* this worker leaves; the others continue */
    /* other workers leave; this worker continues, and the group forms without them */
    FIT_LEAVE_OTHERS,
};

/* Returns whether this worker was asked to stop. */
bool fit_leave_is_asked(const struct fit_loop *loop);

/* All workers call it after a step that returned fit_loop_step.stop. Sets *ret to the decision for
 * this worker. The decisions of all workers match. Logs the names of the workers that were asked to
 * stop. */
int fit_leave_agree(struct fit_loop *loop, enum fit_leave *ret, struct err *err);

/* Logs that the run ends after step outcome->last, and sets outcome->stopped. The message says that
 * the run can be resumed if it has a model directory. */
void fit_leave_tell(struct fit_loop *loop, struct fit_loop_result *outcome);

/* Ends the run on this worker without the other workers. Called if this worker was asked to stop
 * while the group is broken. If `writes` is set and this process has completed a step, saves a
 * checkpoint first. */
int fit_leave_alone(struct fit_loop *loop, bool writes, struct fit_loop_result *outcome,
                    struct err *err);

#endif
