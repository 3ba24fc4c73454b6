/* What a pod's status says to us, in a few words. */
#ifndef TRAINYARD_OPERATOR_POD_VIEW_H
#define TRAINYARD_OPERATOR_POD_VIEW_H

#include "operator/kind/training_kind.h"

#include "base/json/json.h"

enum training_pod_phase {
    TRAINING_POD_PENDING, /* also Unknown: nothing can be said about it */
    TRAINING_POD_RUNNING,
    TRAINING_POD_SUCCEEDED,
    TRAINING_POD_FAILED,
};

/* The exit code of a container that has not ended, which counts as one that may be tried again. */
enum { TRAINING_EXIT_CODE_NONE = 0xbeef, TRAINING_EXIT_CODE_RETRYABLE = 128 };

struct training_pod {
    const struct json *json;
    const char *name;
    const char *uid;
    enum training_pod_phase phase;
    int64_t deleting_ms; /* when it should be gone; 0: it is not being deleted */
    int64_t exit_code;   /* of the container that trains */
    int64_t restarts;    /* in place, by the node, of all its containers */
    bool disrupted;      /* evicted, preempted or lost with its node: not its own fault */
};

/* How its program ended, now or the last time it was restarted in place. */
int64_t training_pod_last_exit_code(const struct training_kind *kind,
                                    const struct training_pod *pod);
/* Why its program ended, where more is known than its exit code, or why the pod failed:
 * "OOMKilled", "Evicted"; "" where nothing is known. */
const char *training_pod_end_reason(const struct training_kind *kind, const struct json *pod);
void training_pod_read(const struct training_kind *kind, const struct json *pod,
                       struct training_pod *ret);

#endif
