/* Computes a pod's status in the API from the state that its supervisor has written. The runner
 * calls it (pod/report.c). Pure, so that tests reach every phase and condition without a
 * process. */
#ifndef TRAINYARD_NODE_POD_STATUS_H
#define TRAINYARD_NODE_POD_STATUS_H

#include "base/json/json.h"
#include "node/pod/record/state.h"

struct pod_status_input {
    const struct json *pod;
    const struct pod_state *state; /* NULL if no supervisor has written a state yet */
    const char *address;           /* NULL if the pod has none yet or cannot start */
    const char *host_address;      /* the node's address, or NULL */
    int64_t started_ms;            /* the wall time at which the node accepted the pod */
    int64_t now_ms;
    /* Why the pod cannot start; `refusal_reason` is NULL if it can. `refusal_container` names the
     * container that is shown as waiting; NULL means all containers that have not terminated. */
    const char *refusal_reason, *refusal_message, *refusal_container;
};

/* Returns the fields of `status` that the node owns, for a merge patch: phase, conditions, … */
struct json *pod_status_build(struct arena *arena, const struct pod_status_input *input);

/* Returns true if the phase in the API is Succeeded or Failed. */
bool pod_phase_is_final(const struct json *pod);

/* Returns the fieldPath of the container in events, such as "spec.initContainers{name}", or "" if
 * the pod has no such container. */
const char *pod_container_path(struct arena *arena, const struct json *pod, const char *name);

#endif
