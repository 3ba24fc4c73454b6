/* Finds advice for a program that failed because of a file that pods do not see or cannot write, or
 * because of a missing program, interpreter or Python module. The last lines of the program's log
 * show the cause, and the advice says what the user can do. The pod's supervisor calls
 * step_advice_tell() once per run that has ended, unless the program never started or the pod is
 * being ended or paused. */
#ifndef TRAINYARD_NODE_STEP_ADVICE_H
#define TRAINYARD_NODE_STEP_ADVICE_H

#include "node/pod/record/state.h"

struct step_advice {
    char reason[POD_REASON_MAX]; /* the reason of the event, such as "ReadOnlyPath" */
    char message[POD_MESSAGE_MAX];
};

/* Finds the advice for `text`, the last lines of the log. Returns false if there is no advice. A
 * pure function, except that it checks whether a file exists on the machine. */
bool step_advice_find(const struct pod_spec *spec, const struct pod_container *container,
                      const char *text, int exit_code, struct step_advice *ret);

/* If there is advice for the end of container `i`, records it as an event of the pod. Does nothing
 * if the container exited with 0 or was ended by a signal. Its log must be complete. */
void step_advice_tell(const char *directory, const struct pod_spec *spec, size_t i,
                      struct pod_state *state);

#endif
