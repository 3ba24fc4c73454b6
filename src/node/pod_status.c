/* A pod's status; see pod_status.h. */
#include "node/pod_status.h"

#include "base/moment.h"
#include "base/str.h"
#include "kube/object.h"

#include <string.h>

struct builder {
    struct arena *arena;
    const struct pod_status_input *input;
    bool initialized, all_ready, any_started, init_failed;
    const char *unready; /* names, for the message */
};

static const struct container_state *find_state(const struct builder *b, const char *name)
{
    return b->input->state ? pod_state_find(b->input->state, name) : NULL;
}

static void set_time(struct arena *arena, struct json *object, const char *name, int64_t wall_ms)
{
    char text[MOMENT_TEXT_MAX];
    moment_format(wall_ms, text);
    json_set_string(arena, object, name, text);
}

static const char *container_id(const struct builder *b, const char *name, int64_t run)
{
    return arena_printf(b->arena, "trainyard://%s/%s/%lld", kube_meta_uid(b->input->pod), name,
                        (long long)run);
}

static struct json *terminated(const struct builder *b, const char *name, int64_t run,
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
    set_time(b->arena, state, "startedAt", end->started_ms);
    set_time(b->arena, state, "finishedAt", end->finished_ms);
    json_set_string(b->arena, state, "containerID", container_id(b, name, run));
    return wrapper;
}

static struct json *waiting(struct arena *arena, const char *reason, const char *message)
{
    struct json *wrapper = json_object(arena);
    struct json *state = json_ensure_object(arena, wrapper, "waiting");
    json_set_string(arena, state, "reason", reason);
    if (message && message[0])
        json_set_string(arena, state, "message", message);
    return wrapper;
}

static struct json *current_state(const struct builder *b, const struct container_state *state,
                                  const char *name)
{
    const struct pod_status_input *input = b->input;
    if (input->refusal_reason &&
        (!input->refusal_container || str_eq(input->refusal_container, name)))
        return waiting(b->arena,
                       str_eq(input->refusal_reason, "FailedMount") ? "ContainerCreating"
                                                                    : input->refusal_reason,
                       input->refusal_message);
    if (!state)
        return waiting(b->arena, b->initialized ? "ContainerCreating" : "PodInitializing", NULL);
    switch (state->phase) {
    case CONTAINER_RUNNING: {
        struct json *wrapper = json_object(b->arena);
        set_time(b->arena, json_ensure_object(b->arena, wrapper, "running"), "startedAt",
                 state->started_ms);
        return wrapper;
    }
    case CONTAINER_TERMINATED:
        return terminated(b, name, state->restarts, &state->end);
    case CONTAINER_WAITING:
    default:
        return waiting(b->arena,
                       b->initialized || state->restarts ? state->reason : "PodInitializing",
                       state->message);
    }
}

/* A restart counts when it comes: who waits for it has not been restarted yet. Controllers compare
 * the sum with how many tries a job has. */
static int64_t newest_run(const struct container_state *state)
{
    bool is_to_come = state->phase == CONTAINER_WAITING && !state->pid && state->last.known;
    return is_to_come ? state->restarts - 1 : state->restarts;
}

static struct json *container_status(struct builder *b, const struct json *container, bool init)
{
    struct arena *arena = b->arena;
    const char *name = json_get_string(container, "name", "");
    const char *image = json_get_string(container, "image", "");
    const struct container_state *state = find_state(b, name);
    bool running = state && state->phase == CONTAINER_RUNNING;
    bool succeeded = state && state->phase == CONTAINER_TERMINATED && state->end.exit_code == 0;
    bool ready = init ? succeeded : running;
    struct json *status = json_object(arena);
    json_set_string(arena, status, "name", name);
    json_set(arena, status, "state", current_state(b, state, name));
    json_set(arena, status, "lastState",
             state ? terminated(b, name, state->restarts - 1, &state->last) : json_object(arena));
    json_set_bool(arena, status, "ready", ready);
    json_set_int(arena, status, "restartCount", state ? newest_run(state) : 0);
    json_set_string(arena, status, "image", image);
    json_set_string(arena, status, "imageID", state ? state->image_id : "");
    bool started = state && (running || state->end.known || state->last.known);
    if (started)
        json_set_string(arena, status, "containerID", container_id(b, name, newest_run(state)));
    json_set_bool(arena, status, "started", running);
    if (!init) {
        b->any_started = b->any_started || started;
        if (!ready) {
            b->all_ready = false;
            b->unready = b->unready ? arena_printf(arena, "%s %s", b->unready, name) : name;
        }
    }
    return status;
}

static const char *phase(const struct builder *b)
{
    const struct pod_state *state = b->input->state;
    if (!state || (!state->finished && (!b->initialized || !b->any_started)))
        return "Pending";
    if (!state->finished)
        return "Running";
    for (size_t i = 0; i < state->count; i++)
        if (state->containers[i].phase != CONTAINER_TERMINATED ||
            state->containers[i].end.exit_code != 0)
            return "Failed";
    return "Succeeded";
}

/* Replace or add the condition; the time of the last transition stays while the status does. */
static void set_condition(const struct builder *b, struct json *conditions, const char *type,
                          bool value, const char *reason, const char *message)
{
    struct arena *arena = b->arena;
    const char *status = value ? "True" : "False";
    struct json *condition = NULL;
    JSON_EACH (found, conditions) {
        if (str_eq(json_get_string(found, "type", ""), type))
            condition = found;
    }
    if (!condition) {
        condition = json_object(arena);
        json_set_string(arena, condition, "type", type);
        json_append(conditions, condition);
    }
    if (!str_eq(json_get_string(condition, "status", ""), status)) {
        json_set_string(arena, condition, "status", status);
        set_time(arena, condition, "lastTransitionTime", b->input->now_ms);
    }
    json_remove(condition, "reason");
    json_remove(condition, "message");
    if (reason)
        json_set_string(arena, condition, "reason", reason);
    if (message)
        json_set_string(arena, condition, "message", message);
}

static struct json *make_conditions(const struct builder *b, const char *phase_name)
{
    const struct json *old = json_at(b->input->pod, "status", "conditions", NULL);
    struct json *conditions =
        old && old->type == JSON_ARRAY ? json_clone(b->arena, old) : json_array(b->arena);
    bool succeeded = str_eq(phase_name, "Succeeded"), final = succeeded;
    const char *reason = NULL, *message = NULL;
    if (str_eq(phase_name, "Failed")) {
        reason = "PodFailed";
        final = true;
    } else if (succeeded) {
        reason = "PodCompleted";
    } else if (!b->all_ready) {
        reason = "ContainersNotReady";
        message = arena_printf(b->arena, "containers with unready status: [%s]", b->unready);
    }
    bool ready = b->all_ready && !final;
    set_condition(b, conditions, "PodScheduled", true, NULL, NULL);
    set_condition(b, conditions, "Initialized", b->initialized,
                  b->initialized ? NULL : "ContainersNotInitialized", NULL);
    set_condition(b, conditions, "ContainersReady", ready, reason, message);
    set_condition(b, conditions, "Ready", ready, reason, message);
    return conditions;
}

static struct json *make_statuses(struct builder *b, const struct json *containers, bool init)
{
    struct json *list = json_array(b->arena);
    JSON_EACH (container, containers) {
        json_append(list, container_status(b, container, init));
    }
    return list;
}

static bool is_initialized(const struct builder *b)
{
    JSON_EACH (container, json_at(b->input->pod, "spec", "initContainers", NULL)) {
        const struct container_state *state = find_state(b, json_get_string(container, "name", ""));
        if (!state || state->phase != CONTAINER_TERMINATED || state->end.exit_code != 0)
            return false;
    }
    return true;
}

struct json *pod_status_build(struct arena *arena, const struct pod_status_input *input)
{
    struct builder b = {.arena = arena, .input = input, .all_ready = true};
    const struct json *spec = json_get(input->pod, "spec");
    b.initialized = is_initialized(&b);
    struct json *status = json_object(arena);
    struct json *inits = make_statuses(&b, json_get(spec, "initContainers"), true);
    struct json *mains = make_statuses(&b, json_get(spec, "containers"), false);
    const char *phase_name = phase(&b);
    json_set_string(arena, status, "phase", phase_name);
    json_set(arena, status, "conditions", make_conditions(&b, phase_name));
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
    set_time(arena, status, "startTime", input->started_ms);
    json_set_string(arena, status, "qosClass",
                    json_get_string(json_get(input->pod, "status"), "qosClass", "BestEffort"));
    return status;
}

bool pod_phase_is_final(const struct json *pod)
{
    const char *name = json_get_string(json_get(pod, "status"), "phase", "");
    return str_eq(name, "Succeeded") || str_eq(name, "Failed");
}
