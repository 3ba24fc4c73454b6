/* Defines a typed view of the fields of a pod that the reconcile uses. */
#ifndef TRAINYARD_OPERATOR_RECONCILE_POD_VIEW_H
#define TRAINYARD_OPERATOR_RECONCILE_POD_VIEW_H

#include "operator/kind/training_kind.h"

#include "base/json/json.h"

enum training_pod_phase {
    TRAINING_POD_PENDING, /* also for the phase Unknown */
    TRAINING_POD_RUNNING,
    TRAINING_POD_SUCCEEDED,
    TRAINING_POD_FAILED,
};

/* TRAINING_EXIT_CODE_NONE means that the container that trains has no exit code and no init
 * container has failed. It is greater than TRAINING_EXIT_CODE_RETRYABLE, so with the policy
 * ExitCode a failed pod without an exit code is restarted. */
enum { TRAINING_EXIT_CODE_NONE = 0xbeef, TRAINING_EXIT_CODE_RETRYABLE = 128 };

struct training_pod {
    const struct json *json;
    const char *name;
    const char *uid;
    enum training_pod_phase phase;
    int64_t deleting_ms; /* wall time at which its deletion is due; 0: it is not being deleted */
    int64_t exit_code;   /* exit code of the container that trains, or of a failed init container */
    int64_t restarts;    /* restarts in place by the node, summed over its containers */
    bool disrupted;      /* evicted, preempted or lost with its node: not the program's fault */
};

/* Returns pod->exit_code. If the training container runs again, returns its exit code before its
 * last restart in place. Returns TRAINING_EXIT_CODE_NONE if there is none. */
int64_t training_pod_last_exit_code(const struct training_kind *kind,
                                    const struct training_pod *pod);
/* Returns why the program ended or the pod failed, if more is known than the exit code, such as
 * "OOMKilled" or "Evicted". Returns "" if nothing more is known. */
const char *training_pod_end_reason(const struct training_kind *kind, const struct json *pod);
/* *ret refers to `pod`, which must outlive it. */
void training_pod_read(const struct training_kind *kind, const struct json *pod,
                       struct training_pod *ret);

#endif
