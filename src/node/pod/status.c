/* Computes a pod's status; see pod/status.h. */
#include "node/pod/status.h"

#include "node/pod/conditions.h"

#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "kube/object.h"

#include <string.h>

struct status_builder {
    struct arena *arena;
    const struct pod_status_input *input;
    struct pod_health health;
};

static const struct container_state *find_state(const struct status_builder *b, const char *name)
{
    return b->input->state ? pod_state_find(b->input->state, name) : NULL;
}

static void status_set_time(struct arena *arena, struct json *object, const char *name,
                            int64_t wall_ms)
{
    char text[MOMENT_TEXT_MAX];
    moment_format(wall_ms, text);
    json_set_string(arena, object, name, text);
}

static const char *container_id(const struct status_builder *b, const char *name, int64_t run)
{
    return arena_printf(b->arena, "trainyard://%s/%s/%lld", kube_meta_uid(b->input->pod), name,
                        (long long)run);
}

static struct json *status_terminated(const struct status_builder *b, const char *name, int64_t run,
                                      const struct container_end *end)
{
    struct json *wrapper = json_object(b->arena);
    if (!end->known)
        return wrapper;
    struct json *state = json_ensure_object(b->arena, wrapper, "terminated");
    json_set_int(b->arena, state, "exitCode", end->exit_code);
    if (end->signal)
        json_set_int(b->arena, state, "signal", end->signal);
    json_set_string(b->arena, state, "reason", end->reason);
    if (end->message[0])
        json_set_string(b->arena, state, "message", end->message);
    status_set_time(b->arena, state, "startedAt", end->started_ms);
    status_set_time(b->arena, state, "finishedAt", end->finished_ms);
    json_set_string(b->arena, state, "containerID", container_id(b, name, run));
    return wrapper;
}

static struct json *status_waiting(struct arena *arena, const char *reason, const char *message)
{
    struct json *wrapper = json_object(arena);
    struct json *state = json_ensure_object(arena, wrapper, "waiting");
    json_set_string(arena, state, "reason", reason);
    if (message && message[0])
        json_set_string(arena, state, "message", message);
    return wrapper;
}

/* Returns whether the container must be shown as waiting because of the refusal. A refusal of the
 * whole pod does not apply to a container that has terminated. */
static bool is_refused(const struct pod_status_input *input, const struct container_state *state,
                       const char *name)
{
    if (!input->refusal_reason)
        return false;
    return input->refusal_container ? str_eq(input->refusal_container, name)
                                    : !state || state->phase != CONTAINER_TERMINATED;
}

static struct json *current_state(const struct status_builder *b,
                                  const struct container_state *state, const char *name)
{
    const struct pod_status_input *input = b->input;
    if (is_refused(input, state, name))
        return status_waiting(b->arena,
                              str_eq(input->refusal_reason, "FailedMount") ? "ContainerCreating"
                                                                           : input->refusal_reason,
                              input->refusal_message);
    if (!state)
        return status_waiting(
            b->arena, b->health.initialized ? "ContainerCreating" : "PodInitializing", NULL);
    switch (state->phase) {
    case CONTAINER_RUNNING: {
        struct json *wrapper = json_object(b->arena);
        status_set_time(b->arena, json_ensure_object(b->arena, wrapper, "running"), "startedAt",
                        state->started_ms);
        return wrapper;
    }
    case CONTAINER_TERMINATED:
        return status_terminated(b, name, state->restarts, &state->end);
    case CONTAINER_WAITING:
    default:
        return status_waiting(
            b->arena, b->health.initialized || state->restarts ? state->reason : "PodInitializing",
            state->message);
    }
}

/* Returns the restart count for the status. state->restarts counts the next run already, but a
 * container that waits for a restart has not been restarted yet. Job controllers compare the sum of
 * these counts with backoffLimit. */
static int64_t newest_run(const struct container_state *state)
{
    bool is_waiting_to_restart =
        state->phase == CONTAINER_WAITING && !state->pid && state->last.known;
    return is_waiting_to_restart ? state->restarts - 1 : state->restarts;
}

static bool has_run(const struct container_state *state)
{
    return state && (state->phase == CONTAINER_RUNNING || state->end.known || state->last.known);
}

static bool has_succeeded(const struct container_state *state)
{
    return state && state->phase == CONTAINER_TERMINATED && state->end.exit_code == 0;
}

static bool status_is_sidecar(const struct json *container, bool init)
{
    return init && str_eq(json_get_string(container, "restartPolicy", ""), "Always");
}

/* A read-only mount is read-only recursively, unless the manifest says otherwise. */
static struct json *mount_statuses(struct arena *arena, const struct json *container)
{
    struct json *list = json_array(arena);
    JSON_EACH (mount, json_get(container, "volumeMounts")) {
        struct json *status = json_object(arena);
        json_set_string(arena, status, "name", json_get_string(mount, "name", ""));
        json_set_string(arena, status, "mountPath", json_get_string(mount, "mountPath", ""));
        if (json_get_bool(mount, "readOnly", false)) {
            bool only_top = str_eq(json_get_string(mount, "recursiveReadOnly", ""), "Disabled");
            json_set_bool(arena, status, "readOnly", true);
            json_set_string(arena, status, "recursiveReadOnly", only_top ? "Disabled" : "Enabled");
        }
        json_append(list, status);
    }
    return list;
}

static struct json *container_status(struct status_builder *b, const struct json *container,
                                     bool init)
{
    struct arena *arena = b->arena;
    const char *name = json_get_string(container, "name", "");
    const struct container_state *state = find_state(b, name);
    /* The image of the spec, because the manifest may have been changed since. */
    const char *image =
        state && state->image[0] ? state->image : json_get_string(container, "image", "");
    /* If the pod cannot start, no supervisor runs, so its last state is out of date. */
    bool runs = state && state->phase == CONTAINER_RUNNING && !b->input->refusal_reason;
    /* An init container that is not a sidecar is ready when it has succeeded. */
    bool is_init = init && !status_is_sidecar(container, init);
    bool ready = is_init ? has_succeeded(state) : runs && state->ready;
    struct json *status = json_object(arena);
    json_set_string(arena, status, "name", name);
    json_set(arena, status, "state", current_state(b, state, name));
    json_set(arena, status, "lastState",
             state ? status_terminated(b, name, state->restarts - 1, &state->last)
                   : json_object(arena));
    json_set_bool(arena, status, "ready", ready);
    json_set_int(arena, status, "restartCount", state ? newest_run(state) : 0);
    json_set_string(arena, status, "image", image);
    json_set_string(arena, status, "imageID", state ? state->image_id : "");
    if (has_run(state))
        json_set_string(arena, status, "containerID", container_id(b, name, newest_run(state)));
    json_set_bool(arena, status, "started", runs && (is_init || state->started));
    struct json *mounts = mount_statuses(arena, container);
    if (json_count(mounts))
        json_set(arena, status, "volumeMounts", mounts);
    if (!ready && !is_init)
        pod_health_add_name(arena, &b->health.unready, name);
    return status;
}

/* Returns the phase as the kubelet computes it. A pod that has finished is Succeeded or Failed.
 * Before that it is Running if every main container has started at least once, and Pending
 * otherwise. */
static const char *status_phase(const struct status_builder *b)
{
    const struct pod_state *state = b->input->state;
    const struct json *spec = json_get(b->input->pod, "spec");
    bool succeeded = true, all_have_run = true;
    JSON_EACH (container, json_get(spec, "initContainers")) {
        if (!status_is_sidecar(container, true))
            succeeded =
                succeeded && has_succeeded(find_state(b, json_get_string(container, "name", "")));
    }
    JSON_EACH (container, json_get(spec, "containers")) {
        const struct container_state *own = find_state(b, json_get_string(container, "name", ""));
        succeeded = succeeded && has_succeeded(own);
        all_have_run = all_have_run && has_run(own);
    }
    if (state && state->finished)
        return succeeded && !state->reason[0] ? "Succeeded" : "Failed";
    return b->health.initialized && all_have_run ? "Running" : "Pending";
}

static struct json *make_statuses(struct status_builder *b, const struct json *containers,
                                  bool init)
{
    struct json *list = json_array(b->arena);
    JSON_EACH (container, containers) {
        json_append(list, container_status(b, container, init));
    }
    return list;
}

/* Sets health.initialized and health.incomplete. The init containers also count as complete if a
 * main container has run, even if a sidecar has failed since. */
static void status_find_initialized(struct status_builder *b)
{
    const struct json *spec = json_get(b->input->pod, "spec");
    bool has_main_run = false;
    JSON_EACH (container, json_get(spec, "containers")) {
        has_main_run =
            has_main_run || has_run(find_state(b, json_get_string(container, "name", "")));
    }
    JSON_EACH (container, json_get(spec, "initContainers")) {
        const char *name = json_get_string(container, "name", "");
        const struct container_state *state = find_state(b, name);
        if (!(status_is_sidecar(container, true) ? state && state->started : has_succeeded(state)))
            pod_health_add_name(b->arena, &b->health.incomplete, name);
    }
    b->health.initialized = has_main_run || !b->health.incomplete;
}

struct json *pod_status_build(struct arena *arena, const struct pod_status_input *input)
{
    struct status_builder b = {.arena = arena, .input = input};
    const struct json *spec = json_get(input->pod, "spec");
    status_find_initialized(&b);
    struct json *status = json_object(arena);
    struct json *inits = make_statuses(&b, json_get(spec, "initContainers"), true);
    struct json *mains = make_statuses(&b, json_get(spec, "containers"), false);
    const char *phase_name = status_phase(&b);
    json_set_string(arena, status, "phase", phase_name);
    if (input->state && input->state->finished && input->state->reason[0]) {
        json_set_string(arena, status, "reason", input->state->reason);
        json_set_string(arena, status, "message", input->state->message);
    }
    b.health.phase = phase_name;
    if (input->state && str_eq(input->state->reason, "Evicted"))
        b.health.evicted = input->state->message;
    b.health.has_sandbox = input->state && input->address && !input->state->finished;
    json_set(arena, status, "conditions",
             pod_conditions_make(arena, input->pod, &b.health, input->now_ms));
    if (json_count(inits))
        json_set(arena, status, "initContainerStatuses", inits);
    json_set(arena, status, "containerStatuses", mains);
    if (input->host_address)
        json_set_string(arena, status, "hostIP", input->host_address);
    if (input->address) {
        json_set_string(arena, status, "podIP", input->address);
        struct json *entry = json_object(arena);
        json_set_string(arena, entry, "ip", input->address);
        json_append(json_ensure_array(arena, status, "podIPs"), entry);
    }
    status_set_time(arena, status, "startTime", input->started_ms);
    json_set_string(arena, status, "qosClass",
                    json_get_string(json_get(input->pod, "status"), "qosClass", "BestEffort"));
    return status;
}

bool pod_phase_is_final(const struct json *pod)
{
    const char *name = json_get_string(json_get(pod, "status"), "phase", "");
    return str_eq(name, "Succeeded") || str_eq(name, "Failed");
}

const char *pod_container_path(struct arena *arena, const struct json *pod, const char *name)
{
    static const char *const LISTS[] = {"initContainers", "containers"};
    for (size_t i = 0; i < ARRAY_SIZE(LISTS); i++)
        JSON_EACH (container, json_at(pod, "spec", LISTS[i], NULL))
            if (str_eq(json_get_string(container, "name", NULL), name))
                return arena_printf(arena, "spec.%s{%s}", LISTS[i], name);
    return "";
}
