/* Has a pod planned and starts its supervisor; see pod/runner_internal.h. */
#include "node/pod/runner_internal.h"

#include "node/limits/cgroup_base.h"
#include "node/network/port_event.h"
#include "node/plan/limits.h"
#include "node/plan/unsupported.h"
#include "node/pod/peers.h"
#include "node/pod/tokens.h"
#include "node/process/descriptors.h"

#include "base/str.h"
#include "base/system/file.h"

#include <stdio.h>

enum {
    REFUSED_RETRY_MS = 2 * 1000, /* pause before a refused pod is planned again */
    HOSTS_MAX = 4 * 1024 * 1024, /* bytes of /etc/hosts, which may list many blocked hosts */
};

/* Sends an event with the kubelet's reason and message. An event about a volume is about the whole
 * pod, not about the container that mounts the volume. */
static void start_tell_refusal(struct pod_runner *runner, const struct plan_refusal *refusal,
                               const struct err *err)
{
    char message[sizeof("Error: ") + sizeof(err->message)];
    if (!refusal->container || str_eq(refusal->reason, "FailedMount")) {
        pod_runner_tell(runner, "", true, refusal->reason, err->message);
        return;
    }
    snprintf(message, sizeof(message), "Error: %s", err->message);
    pod_runner_tell(runner, refusal->container, true, "Failed", message);
}

void pod_runner_refuse(struct pod_runner *runner, const struct plan_refusal *refusal,
                       const struct err *err)
{
    bool is_new_message = !str_eq(runner->refusal_message, err->message);
    str_copy(runner->refusal_reason, sizeof(runner->refusal_reason), refusal->reason);
    str_copy(runner->refusal_message, sizeof(runner->refusal_message), err->message);
    str_copy(runner->refusal_container, sizeof(runner->refusal_container),
             refusal->container ? refusal->container : "");
    if (is_new_message)
        start_tell_refusal(runner, refusal, err);
    loop_timer_start(&runner->retry, REFUSED_RETRY_MS);
}

static int start_take_address(struct pod_runner *runner, struct err *err)
{
    if (runner->host->plain || plan_uses_host_network(runner_pod(runner))) {
        str_copy(runner->address, sizeof(runner->address), runner->node_address);
        return 0;
    }
    return runner->address[0]
               ? 0
               : addresses_take(&runner->host->addresses, runner->node, runner->address, err);
}

/* Sends an event about limits that this machine does not enforce. */
static void start_tell_limits(struct pod_runner *runner)
{
    const struct json *pod = runner_pod(runner);
    const struct cgroup_base *groups = runner->host->groups;
    const char *not_enforced = plan_limits_not_enforced(pod, cgroup_controllers(&groups->trees));
    if (not_enforced)
        kube_event(runner->host->client, pod, POD_RUNNER_COMPONENT, "Warning", "LimitsNotEnforced",
                   "limits of %s are not enforced here: %s", not_enforced,
                   cgroup_base_advice(groups));
}

void pod_runner_warn(struct pod_runner *runner, const char *reason, const char *message)
{
    kube_event(runner->host->client, runner_pod(runner), POD_RUNNER_COMPONENT, "Warning", reason,
               "%s", message);
}

static void on_pod_gap(void *context, const char *reason, const char *message)
{
    pod_runner_warn(context, reason, message);
}

/* Sends an event for each field of the manifest that has no effect on this machine. */
static void start_tell_unsupported(struct pod_runner *runner)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    _cleanup_buf_ struct buf hosts;
    buf_init(&hosts, HOSTS_MAX);
    if (runner->host->plain) /* if the file cannot be read, it counts as empty */
        (void)file_read("/etc/hosts", &hosts, NULL);
    const struct plan_unsupported_machine machine = {
        .nested = runner->host->nested,
        .plain = runner->host->plain != NULL,
        .hosts = hosts.data,
    };
    plan_unsupported_report(arena, runner_pod(runner), &machine, &runner->host->objects, on_pod_gap,
                            runner);
}

static void start_forget_refusal(struct pod_runner *runner)
{
    runner->refusal_reason[0] = runner->refusal_message[0] = runner->refusal_container[0] = '\0';
}

void pod_runner_refuse_sandbox(struct pod_runner *runner, const struct err *err)
{
    const struct plan_refusal refusal = {.reason = "FailedCreatePodSandBox"};
    pod_runner_refuse(runner, &refusal, err);
}

/* Records that the pod is planned, sends events about parts of the manifest that have no effect,
 * and applies changes that were made while the pod was planned. */
static void start_note_plan(struct pod_runner *runner, const struct plan_prepared *prepared)
{
    runner->has_spec = true;
    runner->deadline_ms = prepared->deadline_ms;
    start_tell_limits(runner);
    start_tell_unsupported(runner);
    if (runner->host->plain)
        port_event_check_pod(runner->host->client, runner_pod(runner), runner->address);
    pod_tokens_release(&runner->tokens);
    pod_runner_refresh_own(runner, prepared->pod->json);
    if (prepared->is_stale)
        pod_runner_refresh_all(runner);
}

static void on_pod_prepared(void *context, struct plan_prepared *prepared)
{
    struct pod_runner *runner = context;
    runner->preparation = NULL;
    pod_tokens_release(&runner->tokens);
    runner->tokens = prepared->tokens;
    map_init(&prepared->tokens);
    bool is_failed = prepared->err.code != 0;
    if (is_failed || prepared->is_up || pod_runner_is_unwanted(runner)) {
        pod_runner_move(runner, RUNNER_WAITING);
        if (is_failed && !pod_runner_is_unwanted(runner))
            pod_runner_refuse(runner, &prepared->refusal, &prepared->err);
        pod_runner_work(runner); /* attaches to the supervisor if one runs */
        return;
    }
    if (!runner->has_spec)
        start_note_plan(runner, prepared);
    bool was_refused = runner->refusal_reason[0] != '\0';
    start_forget_refusal(runner);
    runner->stopped_with_ms = -1;
    runner->has_stop_failed = runner->was_deletion_told = false;
    supervisor_link_start(runner->link);
    if (was_refused)
        pod_runner_work(runner); /* to publish a status without the refusal */
}

int pod_runner_attach(struct pod_runner *runner, struct err *err)
{
    int result = supervisor_link_attach(runner->link, err);
    if (result < 0)
        return result;
    start_forget_refusal(runner);
    pod_runner_move(runner, RUNNER_RUNNING);
    pod_runner_load_state(runner, true);
    return 0;
}

void pod_runner_start(struct pod_runner *runner)
{
    struct err err = ERR_INIT;
    int attached = pod_runner_attach(runner, &err);
    if (attached == 0)
        return;
    if (attached != -ERR_NOT_FOUND) {
        pod_runner_refuse_sandbox(runner, &err);
        return;
    }
    if (!runner->has_spec && !pod_runner_has_tokens(runner))
        return;
    if (node_descriptors_check(runner->host->starting, &err) < 0 ||
        (!runner->has_spec && start_take_address(runner, &err) < 0)) {
        pod_runner_refuse_sandbox(runner, &err);
        return;
    }
    /* Planning creates the peers directory (pod/peers.h). Its name is stored before, because the
     * directory must also be removed if planning fails. */
    if (!runner->has_spec) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        pod_runner_keep_peers(runner, peers_name(arena, runner_pod(runner)));
    }
    const struct plan_preparation_request request = {
        .pod = runner->object,
        .directory = runner->directory,
        .address = runner->address,
        .node_address = runner->node_address,
        .started_ms = runner->started_ms,
        .tokens = &runner->tokens,
        .is_planned = runner->has_spec,
    };
    pod_runner_move(runner, RUNNER_STARTING);
    runner->preparation = plan_preparation_start(runner->host, &request, on_pod_prepared, runner);
}
