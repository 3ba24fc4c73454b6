/* Updates a node from its pod's status: phase, message, outputs. */
#include "pipeline/reconcile/reconcile_internal.h"
#include "pipeline/spec/workflow.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/condition.h"
#include "kube/object.h"

#include <string.h>

static const struct json *main_status(const struct json *pod)
{
    return workflow_find_by_name(json_at(pod, "status", "containerStatuses", NULL), "main");
}

/* Returns why a container waits or the pod cannot be scheduled, or NULL if the status does not say.
 */
static const char *waiting_message(struct workflow_pass *pass, const struct json *pod)
{
    static const char *const lists[] = {"initContainerStatuses", "containerStatuses"};

    for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
        JSON_EACH (status, json_at(pod, "status", lists[i], NULL)) {
            const struct json *waiting = json_at(status, "state", "waiting", NULL);
            const char *reason = json_get_string(waiting, "reason", "");
            const char *message = json_get_string(waiting, "message", "");

            if (reason[0] && message[0])
                return arena_printf(pass->arena, "%s: %s", reason, message);
        }
    }
    const struct json *scheduled = kube_condition_get(pod, "PodScheduled");
    const char *why = json_get_string(scheduled, "message", "");
    if (why[0] && !kube_condition_is_true(pod, "PodScheduled"))
        return arena_printf(pass->arena, "Unschedulable: %s", why);
    return NULL;
}

/* Adds the outputs of the template to the node. `text` is the wrapper's termination message:
 * {"parameters": {name: value}, "error": why}. */
static int read_outputs(struct workflow_pass *pass, struct json *node, const struct json *template_,
                        const char *text, struct err *err)
{
    struct json *report = NULL;
    const struct json *wanted = json_at(template_, "outputs", "parameters", NULL);

    if (json_count(wanted) == 0)
        return 0;
    if (json_parse(pass->arena, text, strlen(text), NULL, &report, NULL) < 0)
        return err_set(err, ERR_INVALID,
                       "cannot read the outputs: the container's termination message is not JSON; "
                       "the step must not write this message itself");
    if (json_get_string(report, "error", NULL))
        return err_set(err, ERR_INVALID, "%s", json_get_string(report, "error", ""));
    JSON_EACH (output, wanted) {
        const char *name = json_get_string(output, "name", "");
        const struct json *from = json_get(output, "valueFrom");
        const char *value = json_get_string(json_get(report, "parameters"), name, NULL);

        if (!value)
            value = workflow_value_text(pass->arena, json_get(from, "default"));
        if (!value)
            return err_set(err, ERR_INVALID,
                           "output parameter '%s': the step did not write the file '%s'", name,
                           json_get_string(from, "path", ""));
        workflow_node_add_output(&pass->nodes, node, name, value);
    }
    return 0;
}

static void judge_success(struct workflow_pass *pass, struct json *node,
                          const struct json *template_, const struct json *pod)
{
    const struct json *end = json_at(main_status(pod), "state", "terminated", NULL);
    struct err err = ERR_INIT;

    if (read_outputs(pass, node, template_, json_get_string(end, "message", ""), &err) < 0)
        workflow_pass_set(pass, node, WORKFLOW_ERROR, arena_strdup(pass->arena, err.message));
    else
        workflow_pass_set(pass, node, WORKFLOW_SUCCEEDED, NULL);
}

static void set_exit_code(struct workflow_pass *pass, struct json *node, int64_t code)
{
    json_set(pass->arena, json_ensure_object(pass->arena, node, "outputs"), "exitCode",
             json_stringf(pass->arena, "%lld", (long long)code));
}

static void judge_failure(struct workflow_pass *pass, struct json *node, const struct json *pod)
{
    const struct json *status = json_get(pod, "status");
    const struct json *end = json_at(main_status(pod), "state", "terminated", NULL);
    const char *reason = json_get_string(status, "reason", "");
    int64_t code = json_get_int(end, "exitCode", 0);

    if (kube_meta_is_deleting(pod)) {
        workflow_pass_set(pass, node, WORKFLOW_ERROR, "pod deleted");
    } else if (reason[0]) { /* evicted or past its deadline: the program itself did not fail */
        workflow_pass_set(
            pass, node, WORKFLOW_ERROR,
            arena_printf(pass->arena, "%s: %s", reason, json_get_string(status, "message", "")));
    } else if (end && code != 0) {
        const char *what = json_get_string(end, "reason", "Error");
        const char *message = json_get_string(end, "message", "");
        bool plain = message[0] && message[0] != '{';

        set_exit_code(pass, node, code);
        workflow_pass_set(pass, node, WORKFLOW_FAILED,
                          arena_printf(pass->arena, "%s (exit code %lld)%s%.300s", what,
                                       (long long)code, plain ? ": " : "", plain ? message : ""));
    } else {
        workflow_pass_set(pass, node, WORKFLOW_ERROR,
                          "the pod failed before its main container ran; 'kubectl describe pod' "
                          "says why");
    }
}

void workflow_pod_update_node(struct workflow_pass *pass, struct json *node,
                              const struct json *template_, const struct json *pod)
{
    const char *phase = json_get_string(json_get(pod, "status"), "phase", "");
    const char *host = json_get_string(json_get(pod, "spec"), "nodeName", NULL);
    const char *address = json_get_string(json_get(pod, "status"), "podIP", NULL);

    if (!str_is_empty(host))
        json_set_string(pass->arena, node, "hostNodeName", host);
    if (!str_is_empty(address))
        json_set_string(pass->arena, node, "podIP", address);
    if (str_eq(phase, "Succeeded"))
        judge_success(pass, node, template_, pod);
    else if (str_eq(phase, "Failed"))
        judge_failure(pass, node, pod);
    else if (str_eq(phase, "Running"))
        workflow_pass_set(pass, node, WORKFLOW_RUNNING, NULL);
    else
        workflow_pass_set(pass, node, WORKFLOW_PENDING, waiting_message(pass, pod));
}
