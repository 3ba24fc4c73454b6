/* The cells of a pod, with the same texts as in Kubernetes; see cells.h. The status cell combines
 * the states of all containers of the pod. Pure. */
#include "base/moment.h"
#include "base/str.h"
#include "kube/condition.h"
#include "kube/object.h"
#include "kube/table/cells.h"
#include "kube/table/table.h"

struct summary {
    const char *status;
    int64_t ready; /* the number of ready containers */
    int64_t total; /* the number of containers and sidecars */
    /* The restarts of the init containers while they run, then of the containers and sidecars. */
    int64_t restarts;
    int64_t last_restart_ms; /* wall time of the latest restart; 0: unknown */
};

/* Adds the restarts of one container, and updates the time of the latest restart. */
static void add_restarts(const struct json *container, int64_t *restarts, int64_t *last_ms)
{
    *restarts += json_get_int(container, "restartCount", 0);
    const char *text =
        json_get_string(json_at(container, "lastState", "terminated", NULL), "finishedAt", NULL);
    int64_t finished_ms;
    if (text && moment_parse(text, &finished_ms, NULL) == 0 && finished_ms > *last_ms)
        *last_ms = finished_ms;
}

/* Returns why the container ended, such as "OOMKilled", "Signal:9" or "ExitCode:3". */
static const char *container_ending(struct arena *arena, const struct json *terminated)
{
    const char *reason = json_get_string(terminated, "reason", "");
    int64_t signal = json_get_int(terminated, "signal", 0);
    if (*reason)
        return reason;
    if (signal)
        return arena_printf(arena, "Signal:%lld", (long long)signal);
    return arena_printf(arena, "ExitCode:%lld", (long long)json_get_int(terminated, "exitCode", 0));
}

/* Returns whether the init container with this name is a sidecar. */
static bool is_sidecar(const struct json *pod, const char *name)
{
    JSON_EACH (container, json_at(pod, "spec", "initContainers", NULL))
        if (str_eq(json_get_string(container, "name", NULL), name))
            return str_eq(json_get_string(container, "restartPolicy", NULL), "Always");
    return false;
}

/* Reads the init containers in order and stops at the first container that is neither completed nor
 * a started sidecar. Returns true if such a container exists: then the pod is initializing. */
static bool summarize_init(struct arena *arena, const struct json *pod, struct summary *summary,
                           int64_t *sidecar_restarts, int64_t *sidecar_last_ms)
{
    long long position = -1;
    JSON_EACH (container, json_at(pod, "status", "initContainerStatuses", NULL)) {
        const struct json *state = json_get(container, "state");
        const struct json *terminated = json_get(state, "terminated");
        const char *waiting = json_get_string(json_get(state, "waiting"), "reason", "");
        bool sidecar = is_sidecar(pod, json_get_string(container, "name", NULL));
        position++;
        add_restarts(container, &summary->restarts, &summary->last_restart_ms);
        if (sidecar)
            add_restarts(container, sidecar_restarts, sidecar_last_ms);
        if (terminated && json_get_int(terminated, "exitCode", 0) == 0)
            continue;
        if (sidecar && json_get_bool(container, "started", false)) {
            summary->ready += json_get_bool(container, "ready", false);
            continue;
        }
        if (terminated)
            summary->status = arena_printf(arena, "Init:%s", container_ending(arena, terminated));
        else if (*waiting && !str_eq(waiting, "PodInitializing"))
            summary->status = arena_printf(arena, "Init:%s", waiting);
        else
            summary->status =
                arena_printf(arena, "Init:%lld/%zu", position,
                             json_count(json_at(pod, "spec", "initContainers", NULL)));
        return true;
    }
    return false;
}

/* Returns true if the container is running and ready. */
static bool summarize_container(struct arena *arena, const struct json *container,
                                struct summary *summary)
{
    const struct json *state = json_get(container, "state");
    const struct json *terminated = json_get(state, "terminated");
    const char *waiting = json_get_string(json_get(state, "waiting"), "reason", "");
    if (*waiting) {
        summary->status = waiting;
    } else if (terminated) {
        summary->status = container_ending(arena, terminated);
    } else if (json_get_bool(container, "ready", false) && json_get(state, "running")) {
        summary->ready++;
        return true;
    }
    return false;
}

static void summarize_containers(struct arena *arena, const struct json *pod,
                                 struct summary *summary)
{
    const struct json *list = json_at(pod, "status", "containerStatuses", NULL);
    bool running = false;
    /* Reads the containers from the last to the first, so that the status of the first container
     * overwrites that of the others. */
    for (size_t i = json_count(list); i-- > 0;) {
        const struct json *container = json_element(list, i);
        add_restarts(container, &summary->restarts, &summary->last_restart_ms);
        running |= summarize_container(arena, container, summary);
    }
    if (running && str_eq(summary->status, "Completed"))
        summary->status = kube_condition_is_true(pod, "Ready") ? "Running" : "NotReady";
}

static struct summary summarize_pod(struct arena *arena, const struct json *pod)
{
    const struct json *status = json_get(pod, "status");
    const char *phase = json_get_string(status, "phase", "Unknown");
    const char *reason = json_get_string(status, "reason", "");
    struct summary summary = {.status = *reason ? reason : phase};
    const struct json *scheduled = kube_condition_get(pod, "PodScheduled");
    if (str_eq(json_get_string(scheduled, "reason", NULL), "SchedulingGated"))
        summary.status = "SchedulingGated";
    summary.total = (int64_t)json_count(json_at(pod, "spec", "containers", NULL));
    JSON_EACH (container, json_at(pod, "spec", "initContainers", NULL))
        summary.total += str_eq(json_get_string(container, "restartPolicy", NULL), "Always");

    int64_t sidecar_restarts = 0, sidecar_last_ms = 0;
    bool initializing = summarize_init(arena, pod, &summary, &sidecar_restarts, &sidecar_last_ms);
    if (!initializing || kube_condition_is_true(pod, "Initialized")) {
        summary.restarts = sidecar_restarts;
        summary.last_restart_ms = sidecar_last_ms;
        summarize_containers(arena, pod, &summary);
    }
    bool is_finished = str_eq(phase, "Succeeded") || str_eq(phase, "Failed");
    if (kube_meta_is_deleting(pod) && str_eq(reason, "NodeLost"))
        summary.status = "Unknown";
    else if (kube_meta_is_deleting(pod) && !is_finished)
        summary.status = "Terminating";
    return summary;
}

struct json *table_pod_ready(struct arena *arena, const struct json *pod, int64_t now_ms)
{
    struct summary summary = summarize_pod(arena, pod);
    return json_stringf(arena, "%lld/%lld", (long long)summary.ready, (long long)summary.total);
}

struct json *table_pod_status(struct arena *arena, const struct json *pod, int64_t now_ms)
{
    return json_string(arena, summarize_pod(arena, pod).status);
}

struct json *table_pod_restarts(struct arena *arena, const struct json *pod, int64_t now_ms)
{
    struct summary summary = summarize_pod(arena, pod);
    if (summary.restarts == 0 || summary.last_restart_ms == 0)
        return json_stringf(arena, "%lld", (long long)summary.restarts);
    char age[MOMENT_TEXT_MAX];
    moment_format_age(now_ms - summary.last_restart_ms, age);
    return json_stringf(arena, "%lld (%s ago)", (long long)summary.restarts, age);
}

struct json *table_pod_ip(struct arena *arena, const struct json *pod, int64_t now_ms)
{
    return table_text_or_none(arena, json_get_string(json_get(pod, "status"), "podIP", NULL));
}

struct json *table_pod_node(struct arena *arena, const struct json *pod, int64_t now_ms)
{
    return table_text_or_none(arena, json_get_string(json_get(pod, "spec"), "nodeName", NULL));
}

struct json *table_pod_nominated_node(struct arena *arena, const struct json *pod, int64_t now_ms)
{
    return table_text_or_none(arena,
                              json_get_string(json_get(pod, "status"), "nominatedNodeName", NULL));
}

struct json *table_pod_readiness_gates(struct arena *arena, const struct json *pod, int64_t now_ms)
{
    const struct json *gates = json_at(pod, "spec", "readinessGates", NULL);
    size_t met = 0;
    if (json_count(gates) == 0)
        return json_string(arena, "<none>");
    JSON_EACH (gate, gates)
        met += kube_condition_is_true(pod, json_get_string(gate, "conditionType", ""));
    return json_stringf(arena, "%zu/%zu", met, json_count(gates));
}
