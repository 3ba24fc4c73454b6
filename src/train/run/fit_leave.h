/* Ends or leaves a run when a worker was told to stop (SIGTERM). If that worker writes the
 * checkpoints, the run ends for all workers after a last checkpoint. Any other worker leaves, and
 * the rest go on without it. In a group whose members cannot leave, the run ends for all. Only
 * fit_loop calls it. */
#ifndef TRAINYARD_TRAIN_RUN_FIT_LEAVE_H
#define TRAINYARD_TRAIN_RUN_FIT_LEAVE_H

#include "train/run/fit_loop.h"

enum fit_leave {
    FIT_LEAVE_ALL,  /* the run ends for all workers and can be resumed */
    FIT_LEAVE_SELF, /* this worker leaves; the others go on */
    /* other workers leave; the next forming of the group does not wait for them */
    FIT_LEAVE_OTHERS,
};

/* Whether this worker was told to stop. */
bool fit_leave_is_asked(const struct fit_loop *loop);

/* All workers call it after a step in which any worker asked to stop, and all come to the same
 * answer. Logs the names of the workers that leave. */
int fit_leave_agree(struct fit_loop *loop, enum fit_leave *ret, struct err *err);

/* Logs that the run ends after step outcome->last and can be resumed, and sets outcome->stopped. */
void fit_leave_tell(struct fit_loop *loop, struct fit_loop_result *outcome);

/* Ends the run of this worker when it was told to stop while the group is broken, so that the
 * workers cannot agree. `writes`: this worker saves a checkpoint first. */
int fit_leave_alone(struct fit_loop *loop, bool writes, struct fit_loop_result *outcome,
                    struct err *err);

#endif
