/* Decides what happens when a worker is asked to stop (SIGTERM). If rank 0 is asked, or if the
 * group is not elastic, the run ends for all workers after a last checkpoint, which rank 0 writes.
 * If another worker of an elastic group is asked, this worker leaves, and the others continue
 * without it. Only fit_loop.c calls these functions. */
#ifndef TRAINYARD_TRAIN_RUN_FIT_LEAVE_H
#define TRAINYARD_TRAIN_RUN_FIT_LEAVE_H

#include "train/run/fit_loop.h"

enum fit_leave {
    FIT_LEAVE_ALL,  /* the run ends for all workers and can be resumed */
    FIT_LEAVE_SELF, /* this worker leaves; workers that were not asked to stop continue */
    /* other workers leave; this worker continues, and the group must form again without them */
    FIT_LEAVE_OTHERS,
};

/* Returns whether this worker was asked to stop. */
bool fit_leave_is_asked(const struct fit_loop *loop);

/* All workers call it after a step that returned fit_loop_step.stop. Sets *ret to the decision for
 * this worker. The decisions of all workers match. If there are several workers, logs the names of
 * the workers that were asked to stop. Returns 0, or the error of a collective. */
int fit_leave_agree(struct fit_loop *loop, enum fit_leave *ret, struct err *err);

/* Logs that the run ends after step outcome->last, and sets outcome->stopped. If the run has a
 * model directory, the message says that the run can be resumed. */
void fit_leave_end_run(struct fit_loop *loop, struct fit_loop_result *outcome);

/* Ends the run on this worker without the other workers. Called if this worker was asked to stop
 * while the group is broken. If `writes` is set and this process has completed a step, saves a
 * checkpoint first. Returns 0 and sets outcome->stopped, or returns the error of the checkpoint. */
int fit_leave_alone(struct fit_loop *loop, bool writes, struct fit_loop_result *outcome,
                    struct err *err);

#endif
