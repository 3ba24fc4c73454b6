/* What a pod's status says to us, in a few words. */
#ifndef TRAINYARD_OPERATOR_POD_VIEW_H
#define TRAINYARD_OPERATOR_POD_VIEW_H

#include "base/json.h"

enum tfjob_pod_phase {
    TFJOB_POD_PENDING, /* also Unknown: nothing can be said about it */
    TFJOB_POD_RUNNING,
    TFJOB_POD_SUCCEEDED,
    TFJOB_POD_FAILED,
};

/* The exit code of a container that has not ended, which counts as one that may be tried again. */
enum { TFJOB_EXIT_CODE_NONE = 0xbeef, TFJOB_EXIT_CODE_RETRYABLE = 128 };

struct tfjob_pod {
    const struct json *json;
    const char *name;
    const char *uid;
    enum tfjob_pod_phase phase;
    int64_t deleting_ms; /* when it should be gone; 0: it is not being deleted */
    int64_t exit_code;   /* of container tensorflow */
    int64_t restarts;    /* in place, by the node, of all its containers */
    bool disrupted;      /* evicted, preempted or lost with its node: not its own fault */
};

void tfjob_pod_read(const struct json *pod, struct tfjob_pod *ret);

#endif
