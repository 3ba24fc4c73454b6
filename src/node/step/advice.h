/* Advice for a program that failed because pods see other files than the machine. The last lines of
 * its log name the file; the advice says what its owner can do. The pod's supervisor asks for it
 * once per failed run. Pure, except that it checks whether a file exists on the machine. */
#ifndef TRAINYARD_NODE_STEP_ADVICE_H
#define TRAINYARD_NODE_STEP_ADVICE_H

#include "node/pod/record/state.h"

struct step_advice {
    char reason[POD_REASON_MAX]; /* of the event: "ReadOnlyPath" */
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
