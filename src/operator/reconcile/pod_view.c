/* Reads pods; see pod_view.h. Pure. */
#include "operator/reconcile/pod_view.h"

#include "operator/kind/training_job.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/condition.h"
#include "kube/object.h"

static enum training_pod_phase read_phase(const struct json *status)
{
    const char *phase = json_get_string(status, "phase", "");

    if (str_eq(phase, "Running"))
        return TRAINING_POD_RUNNING;
    if (str_eq(phase, "Succeeded"))
        return TRAINING_POD_SUCCEEDED;
    if (str_eq(phase, "Failed"))
        return TRAINING_POD_FAILED;
    return TRAINING_POD_PENDING;
}

static int64_t read_exit_code(const struct training_kind *kind, const struct json *status)
{
    int64_t code = TRAINING_EXIT_CODE_NONE;

    JSON_EACH (container, json_get(status, "containerStatuses")) {
        if (str_eq(json_get_string(container, "name", NULL), kind->container))
            code = json_get_int(json_at(container, "state", "terminated", NULL), "exitCode",
                                TRAINING_EXIT_CODE_NONE);
    }
    if (code != TRAINING_EXIT_CODE_NONE)
        return code;
    /* If an init container failed, the training container has not run. */
    JSON_EACH (container, json_get(status, "initContainerStatuses")) {
        code = json_get_int(json_at(container, "state", "terminated", NULL), "exitCode", 0);
        if (code != 0)
            return code;
    }
    return TRAINING_EXIT_CODE_NONE;
}

static int64_t pod_count_restarts(const struct json *status)
{
    static const char *const lists[] = {"initContainerStatuses", "containerStatuses"};
    int64_t sum = 0;

    for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
        JSON_EACH (container, json_get(status, lists[i]))
            sum += json_get_int(container, "restartCount", 0);
    }
    return sum;
}

/* Returns whether the pod was evicted, preempted or lost with its node. Kubernetes 1.26 and newer
 * sets a condition; older versions set the pod's reason. */
static bool read_disrupted(const struct json *pod, const struct json *status)
{
    static const char *const reasons[] = {"Evicted",      "Preempting", "Shutdown",
                                          "NodeShutdown", "Terminated", "NodeLost"};
    const char *reason = json_get_string(status, "reason", "");

    for (size_t i = 0; i < ARRAY_SIZE(reasons); i++) {
        if (str_eq(reason, reasons[i]))
            return true;
    }
    return kube_condition_is_true(pod, "DisruptionTarget");
}

void training_pod_read(const struct training_kind *kind, const struct json *pod,
                       struct training_pod *ret)
{
    const struct json *status = json_get(pod, "status");

    *ret = (struct training_pod){
        .json = pod,
        .name = kube_meta_name(pod),
        .uid = kube_meta_uid(pod),
        .phase = read_phase(status),
        .deleting_ms = kube_meta_deleting_ms(pod),
        .exit_code = read_exit_code(kind, status),
        .restarts = pod_count_restarts(status),
        .disrupted = read_disrupted(pod, status),
    };
}

int64_t training_pod_last_exit_code(const struct training_kind *kind,
                                    const struct training_pod *pod)
{
    if (!pod->json || pod->exit_code != TRAINING_EXIT_CODE_NONE)
        return pod->json ? pod->exit_code : TRAINING_EXIT_CODE_NONE;
    JSON_EACH (container, json_at(pod->json, "status", "containerStatuses", NULL)) {
        if (str_eq(json_get_string(container, "name", NULL), kind->container))
            return json_get_int(json_at(container, "lastState", "terminated", NULL), "exitCode",
                                TRAINING_EXIT_CODE_NONE);
    }
    return TRAINING_EXIT_CODE_NONE;
}

const char *training_pod_end_reason(const struct training_kind *kind, const struct json *pod)
{
    const struct json *status = json_get(pod, "status");
    const char *reason = json_get_string(status, "reason", "");

    JSON_EACH (container, json_get(status, "containerStatuses")) {
        if (str_is_empty(reason) &&
            str_eq(json_get_string(container, "name", NULL), kind->container))
            reason = json_get_string(json_at(container, "state", "terminated", NULL), "reason", "");
    }
    return str_eq(reason, "Error") || str_eq(reason, "Completed") ? "" : reason;
}
