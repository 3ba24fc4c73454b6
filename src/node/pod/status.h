/* A pod's status on the API, made from what its supervisor wrote down: a pure function, so that
 * every phase and condition can be tested without a process. */
#ifndef TRAINYARD_NODE_POD_STATUS_H
#define TRAINYARD_NODE_POD_STATUS_H

#include "base/json/json.h"
#include "node/pod/state.h"

struct pod_status_input {
    const struct json *pod;
    const struct pod_state *state; /* NULL: no supervisor has written one yet */
    const char *address;           /* NULL: none yet */
    const char *host_address;
    int64_t started_ms; /* when the node took the pod */
    int64_t now_ms;
    /* Why it cannot start, or NULL; `container` NULL: all of them wait. */
    const char *refusal_reason, *refusal_message, *refusal_container;
};

/* A merge patch for the status: {phase, conditions, containerStatuses, …}. */
struct json *pod_status_build(struct arena *arena, const struct pod_status_input *input);

/* Neither running nor ever to run again, as far as the API knows. */
bool pod_phase_is_final(const struct json *pod);

/* A container as a part of the pod, as events name it: "spec.initContainers{name}"; "" if it is
 * none of the pod's. */
const char *pod_container_path(struct arena *arena, const struct json *pod, const char *name);

#endif
