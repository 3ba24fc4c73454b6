/* Finds advice for a program that failed because pods do not see the same files as the machine. The
 * last lines of the program's log name the file, and the advice says what the user can do. The
 * pod's supervisor calls it once per failed run. Pure, except that it checks whether a file exists
 * on the machine. */
#ifndef TRAINYARD_NODE_STEP_ADVICE_H
#define TRAINYARD_NODE_STEP_ADVICE_H

#include "node/pod/record/state.h"

struct step_advice {
    char reason[POD_REASON_MAX]; /* the reason of the event, such as "ReadOnlyPath" */
    char message[POD_MESSAGE_MAX];
};

/* Finds the advice for the last lines of the log, `text`. Returns false if there is none. */
bool step_advice_find(const struct pod_spec *spec, const struct pod_container *container,
                      const char *text, int exit_code, struct step_advice *ret);

/* Adds the advice to the pod's events. Container `i` must have failed by itself, and its log must
 * be complete. */
void step_advice_tell(const char *directory, const struct pod_spec *spec, size_t i,
                      struct pod_state *state);

#endif
