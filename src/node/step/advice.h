/* Advice for a program that failed: what its last lines say about files that pods see otherwise
 * than the machine, and what its owner can do. A pure function but for one look at the machine.
 * Used by the pod's supervisor, once for each run that failed. */
#ifndef TRAINYARD_NODE_STEP_ADVICE_H
#define TRAINYARD_NODE_STEP_ADVICE_H

#include "node/pod/state.h"

struct step_advice {
    char reason[POD_REASON_MAX]; /* of the event: "ReadOnlyPath" */
    char message[POD_MESSAGE_MAX];
};

/* Finds the advice that the last lines of the log, `text`, call for. False: none. */
bool step_advice_find(const struct pod_spec *spec, const struct pod_container *container,
                      const char *text, int exit_code, struct step_advice *ret);

/* Container `i` has failed by itself, and its log is complete: adds the advice to the pod's news.
 */
void step_advice_tell(const char *directory, const struct pod_spec *spec, size_t i,
                      struct pod_state *state);

#endif
