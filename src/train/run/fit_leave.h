/* What happens when a worker was told to stop. The one that writes checkpoints ends the run for
 * all, after a last one; any other leaves in peace, and those that are left go on without it. Where
 * a group cannot do that, whoever was told ends it for all. Called by fit_loop only. */
#ifndef TRAINYARD_TRAIN_FIT_LEAVE_H
#define TRAINYARD_TRAIN_FIT_LEAVE_H

#include "train/run/fit_loop.h"

enum fit_leave {
    FIT_LEAVE_ALL,    /* the run ends for everybody, and can be resumed */
    FIT_LEAVE_SELF,   /* this worker leaves, the others go on */
    FIT_LEAVE_OTHERS, /* others leave; a forming anew does not wait for them */
};

bool fit_leave_is_asked(const struct fit_loop *loop);

/* After a step in which some worker asked to end, called by all: they come to the same answer, and
 * who was told is said where it matters. */
int fit_leave_agree(struct fit_loop *loop, enum fit_leave *ret, struct err *err);

/* Last words: the run ends after outcome->last, and can be resumed. */
void fit_leave_tell(struct fit_loop *loop, struct fit_loop_result *outcome);

/* Asked to end while there is no group to agree on it: each for itself, with what it has done.
 * `writes`: and this worker saves it. */
int fit_leave_alone(struct fit_loop *loop, bool writes, struct fit_loop_result *outcome,
                    struct err *err);

#endif
