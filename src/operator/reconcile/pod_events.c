/* Reports problems of pods as events of the job: why a pod does not start, and how a container
 * ended. So the user need not run 'kubectl describe' for each pod. Pure; part of the reconcile. */
#include "operator/reconcile/reconcile_internal.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"

#include <inttypes.h>
#include <string.h>

/* Makes the controller report the event once per pod. A new pod of the same name is reported again.
 */
static void event_set_pod(const struct json *pod, struct training_event *event)
{
    event->once = true;
    event->pod_uid = kube_meta_uid(pod);
}

/* Reports that a container was killed for its memory and restarted in place. Its exit code alone
 * does not tell the reason. */
static void report_memory(struct training_pass *pass, const struct json *pod,
                          const struct json *container)
{
    const struct json *last = json_at(container, "lastState", "terminated", NULL);
    const char *reason = json_get_string(last, "reason", "");

    if (str_eq(reason, "OOMKilled"))
        event_set_pod(
            pod, training_plan_event(pass->plan, true, reason,
                                     "Error pod %s container %s exitCode: %" PRId64
                                     ": it used more memory than its limit; restart %" PRId64,
                                     kube_meta_name(pod), json_get_string(container, "name", ""),
                                     json_get_int(last, "exitCode", 0),
                                     json_get_int(container, "restartCount", 0)));
}

/* Reports a container that failed, that was restarted after it was killed for its memory, or that
 * waits with a message. */
static void report_state(struct training_pass *pass, const struct json *pod,
                         const struct json *container)
{
    const struct json *terminated = json_at(container, "state", "terminated", NULL);
    const struct json *waiting = json_at(container, "state", "waiting", NULL);
    const char *name = json_get_string(container, "name", "");
    const char *message;

    if (json_get_int(terminated, "exitCode", 0) != 0) {
        message = json_get_string(terminated, "message", "");
        event_set_pod(pod, training_plan_event(
                               pass->plan, true, json_get_string(terminated, "reason", "Error"),
                               "Error pod %s container %s exitCode: %" PRId64 "%s%s",
                               kube_meta_name(pod), name, json_get_int(terminated, "exitCode", 0),
                               str_is_empty(message) ? "" : " terminated message: ", message));
    }
    report_memory(pass, pod, container);
    message = json_get_string(waiting, "message", "");
    if (!str_is_empty(message)) {
        event_set_pod(pod, training_plan_event(pass->plan, true,
                                               json_get_string(waiting, "reason", "Waiting"),
                                               "Error pod %s container %s waiting message: %s",
                                               kube_meta_name(pod), name, message));
    }
}

/* Reports the condition that changed last, if it is not True and has a message. */
static void report_condition(struct training_pass *pass, const struct json *pod,
                             const struct json *conditions)
{
    const struct json *newest = NULL;

    JSON_EACH (condition, conditions) {
        /* times of one format and zone sort as text */
        if (!newest || strcmp(json_get_string(condition, "lastTransitionTime", ""),
                              json_get_string(newest, "lastTransitionTime", "")) > 0)
            newest = condition;
    }
    if (!newest || str_eq(json_get_string(newest, "status", ""), "True") ||
        str_is_empty(json_get_string(newest, "message", "")))
        return;
    event_set_pod(
        pod, training_plan_event(pass->plan, true, json_get_string(newest, "reason", "NotReady"),
                                 "Error pod %s condition message: %s", kube_meta_name(pod),
                                 json_get_string(newest, "message", "")));
}

static const char *const STATUS_LISTS[] = {"containerStatuses", "initContainerStatuses"};

static void report_pod(struct training_pass *pass, const struct json *pod)
{
    const struct json *status = json_get(pod, "status");
    bool has_containers = false;

    for (size_t i = 0; i < ARRAY_SIZE(STATUS_LISTS); i++) {
        const struct json *containers = json_get(status, STATUS_LISTS[i]);

        if (json_count(containers) == 0)
            continue;
        has_containers = true;
        JSON_EACH (container, containers)
            report_state(pass, pod, container);
    }
    if (has_containers)
        return;
    report_condition(pass, pod, json_get(status, "conditions"));
}

void training_pass_report_pods(struct training_pass *pass)
{
    for (size_t i = 0; i < pass->replicas.count; i++) {
        const struct training_replica *replica = &pass->replicas.items[i];

        if (replica->state == TRAINING_REPLICA_ACTIVE || replica->state == TRAINING_REPLICA_PENDING)
            report_pod(pass, replica->pod.json);
    }
}

/* Reports why a pod failed, if more is known than the exit code: the pod could not be started, was
 * killed for its memory, or was evicted. */
static void report_cause(struct training_pass *pass, const struct json *pod)
{
    const struct json *status = json_get(pod, "status");
    const char *message = json_get_string(status, "message", "");

    if (!str_is_empty(message))
        event_set_pod(pod, training_plan_event(pass->plan, true,
                                               json_get_string(status, "reason", "Failed"),
                                               "Error pod %s: %s", kube_meta_name(pod), message));
    for (size_t i = 0; i < ARRAY_SIZE(STATUS_LISTS); i++) {
        JSON_EACH (container, json_get(status, STATUS_LISTS[i])) {
            const struct json *terminated = json_at(container, "state", "terminated", NULL);

            /* the exit code of the program is reported elsewhere */
            if (!str_is_empty(json_get_string(terminated, "message", "")) ||
                !str_eq(json_get_string(terminated, "reason", "Error"), "Error") ||
                !str_eq(json_get_string(container, "name", ""), pass->job.kind->container))
                report_state(pass, pod, container);
        }
    }
}

void training_pass_report_exit(struct training_pass *pass, const struct training_replica *replica)
{
    if (replica->pod.json && replica->state == TRAINING_REPLICA_FAILED)
        report_cause(pass, replica->pod.json);
    if (replica->pod.json && replica->state == TRAINING_REPLICA_LOST)
        event_set_pod(
            replica->pod.json,
            training_plan_event(pass->plan, true, "PodDeleted",
                                "Pod: %s.%s was deleted while it ran, or its node is gone",
                                pass->job.namespace_, replica->pod.name));
    if (!replica->pod.json || replica->pod.exit_code == TRAINING_EXIT_CODE_NONE)
        return;
    event_set_pod(replica->pod.json,
                  training_plan_event(pass->plan, replica->pod.exit_code != 0, "ExitedWithCode",
                                      "Pod: %s.%s exited with code %" PRId64, pass->job.namespace_,
                                      replica->pod.name, replica->pod.exit_code));
}
