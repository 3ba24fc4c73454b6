/* Tells a pod's supervisor to end or pause the pod; see pod/runner_internal.h. */
#include "node/pod/runner_internal.h"

#include "base/log.h"
#include "base/str.h"

enum {
    STOP_RETRY_MS = 2 * 1000, /* pause before a stop request is stored again */
    GRACE_DEFAULT_S = 30,
};

/* Sends the stop request, unless an earlier request has told the supervisor the same: a grace
 * period that is not longer, and the deletion. If the request cannot be stored, tries again
 * later. */
static void stop_tell_supervisor(struct pod_runner *runner, const struct pod_stop *stop)
{
    bool is_known = runner->was_deletion_told || !stop->deleted;
    if (is_known && runner->stopped_with_ms >= 0 && runner->stopped_with_ms <= stop->grace_ms)
        return;
    struct err err = ERR_INIT;
    runner->was_deletion_told = runner->was_deletion_told || stop->deleted;
    if (supervisor_link_stop(runner->link, stop, &err) == 0) {
        runner->stopped_with_ms = stop->grace_ms;
        return;
    }
    if (!runner->has_stop_failed) /* warns only once: the log may be on the same full disk */
        log_warning(runner->directory,
                    "cannot store how the pod is to be stopped, so its own grace period applies "
                    "until a retry succeeds: %s",
                    err.message);
    runner->has_stop_failed = true;
    loop_timer_start(&runner->retry, STOP_RETRY_MS);
}

void pod_runner_stop(struct pod_runner *runner, int64_t grace_ms, const char *reason,
                     const char *message)
{
    struct pod_stop stop = {.grace_ms = grace_ms};
    str_copy(stop.reason, sizeof(stop.reason), reason);
    str_copy(stop.message, sizeof(stop.message), message);
    stop_tell_supervisor(runner, &stop);
}

void pod_runner_stop_deleted(struct pod_runner *runner)
{
    int64_t grace_s = json_get_int(json_get(runner_pod(runner), "metadata"),
                                   "deletionGracePeriodSeconds", GRACE_DEFAULT_S);
    const struct pod_stop stop = {
        .grace_ms = runner->forgotten ? 0 : grace_s * 1000,
        .deleted = true,
    };
    stop_tell_supervisor(runner, &stop);
}

/* The cluster was started without the pod's node, so the pod must not run. A supervisor that still
 * runs is told to pause the pod. After that, the pod's status says why it waits. The pod continues
 * when the cluster is started with the node again. */
void pod_runner_wait_for_node(struct pod_runner *runner)
{
    const struct json *spec = json_get(runner_pod(runner), "spec");
    if (pod_runner_state(runner) == RUNNER_RUNNING) {
        int64_t grace_s = json_get_int(spec, "terminationGracePeriodSeconds", GRACE_DEFAULT_S);
        const struct pod_stop pause = {.grace_ms = grace_s * 1000, .pause = true};
        stop_tell_supervisor(runner, &pause);
    } else if (pod_runner_state(runner) == RUNNER_WAITING && !runner->refusal_reason[0]) {
        const struct plan_refusal refusal = {.reason = "NodeNotReady"};
        struct err err = ERR_INIT;
        err_set(&err, ERR_UNAVAILABLE,
                "the cluster was started without node '%s'. Start the cluster with this node again "
                "('trainyard up --nodes') to continue the pod, or delete the pod",
                json_get_string(spec, "nodeName", ""));
        pod_runner_refuse(runner, &refusal, &err);
    }
}
