/* Decides when the containers of a pod start and restart; see step/supervisor.h. */
#include "node/step/supervisor.h"

#include "base/moment.h"
#include "base/str.h"

#include <signal.h>
#include <stdio.h>

void supervisor_set_waiting(struct container_state *state, const char *reason, const char *message)
{
    state->phase = CONTAINER_WAITING;
    str_copy(state->reason, sizeof(state->reason), reason);
    str_copy(state->message, sizeof(state->message), message);
}

/* Returns true if a main container has been started at least once, even if the start failed. */
static bool has_started_main(const struct supervisor *s)
{
    for (size_t i = 0; i < s->state.count; i++)
        if (!s->spec.containers[i].init && (s->runs[i].pid || s->state.containers[i].end.known ||
                                            s->state.containers[i].last.known))
            return true;
    return false;
}

bool supervisor_has_outcome(const struct supervisor *s)
{
    for (size_t i = 0; i < s->state.count; i++) {
        const struct container_state *state = &s->state.containers[i];
        const struct pod_container *spec = &s->spec.containers[i];
        if (spec->sidecar)
            continue;
        if (state->phase != CONTAINER_TERMINATED)
            return false;
        if (spec->init && state->end.exit_code != 0)
            return true;
    }
    return true;
}

/* Sets the container to waiting for its back-off. The message has the form "back-off 1m20s
 * restarting failed container=main pod=…", with the delay as Go formats it. */
static void set_back_off(struct supervisor *s, size_t i, int64_t delay_ms)
{
    const char *name = s->spec.containers[i].name;
    const char *pod = s->spec.identity ? s->spec.identity : s->spec.hostname;
    char message[POD_MESSAGE_MAX], minutes[32] = "";
    long long seconds = (long long)delay_ms / 1000;
    if (seconds >= 60)
        snprintf(minutes, sizeof(minutes), "%lldm", seconds / 60);
    snprintf(message, sizeof(message), "back-off %s%llds restarting failed container=%s pod=%s",
             minutes, seconds % 60, name, pod);
    supervisor_set_waiting(&s->state.containers[i], "CrashLoopBackOff", message);
    pod_state_record_event(&s->state, name, true, "BackOff",
                           "Back-off restarting failed container %s in pod %s", name, pod);
}

void supervisor_decide_restart(struct supervisor *s, size_t i, bool resumes)
{
    struct container_state *state = &s->state.containers[i];
    const struct pod_container *spec = &s->spec.containers[i];
    bool pauses = resumes || supervisor_is_pausing(s);
    s->must_store = true;
    int exit_code = life_was_killed_by_probe(&s->lives[i]) && state->end.exit_code == 0
                        ? 128 + SIGTERM
                        : state->end.exit_code;
    struct restart_decision decision = restart_decide(
        pod_container_restart(&s->spec, spec), &spec->rules, spec->init && !spec->sidecar,
        exit_code, state->level, state->end.finished_ms - state->end.started_ms);
    if (pauses) {
        /* The end of a container while its pod is paused does not count as a crash, so the next run
         * starts without back-off. If a stop request pauses the pod, a container that has failed
         * runs again, whatever its restart policy is. In all other cases the restart policy
         * decides. */
        bool by_control = supervisor_state(s) != SUPERVISOR_SHUTDOWN;
        decision.restart = decision.restart || (by_control && state->end.exit_code != 0);
        decision.delay_ms = 0;
        decision.level = state->level;
    }
    state->level = decision.level;
    if ((supervisor_is_stopping(s) && !pauses) || !decision.restart ||
        (spec->sidecar && supervisor_has_outcome(s)))
        return;
    state->last = state->end;
    state->end = (struct container_end){0};
    state->restarts++;
    state->next_start_ms = state->last.finished_ms + decision.delay_ms;
    if (decision.delay_ms)
        set_back_off(s, i, decision.delay_ms);
    else
        supervisor_set_waiting(state, "ContainerCreating", "");
}

static void record_start_event(struct supervisor *s, size_t i, const struct err *err)
{
    const struct pod_container *spec = &s->spec.containers[i];
    if (err)
        pod_state_record_event(&s->state, spec->name, true, "Failed", "Error: %s", err->message);
    else if (spec->image)
        pod_state_record_event(&s->state, spec->name, false, "Pulled",
                               "Container image \"%s\" already present on machine", spec->image);
}

static void start_container(struct supervisor *s, size_t i)
{
    struct err err = ERR_INIT;
    s->must_store = true;
    bool started = container_run_start(&s->runs[i], moment_wall_ms(), &err) == 0;
    record_start_event(s, i, started ? NULL : &err);
    if (!started)
        supervisor_decide_restart(s, i, false);
}

/* Returns true if container `i` lets the next container start. An init container must have
 * succeeded. A sidecar must have started, unless main containers have started already. If a main
 * container runs and has a postStart hook, the hook must have ended. */
static bool next_may_start(const struct supervisor *s, size_t i)
{
    const struct container_state *state = &s->state.containers[i];
    if (s->spec.containers[i].sidecar)
        return state->started || has_started_main(s);
    if (s->spec.containers[i].init)
        return state->phase == CONTAINER_TERMINATED && state->end.exit_code == 0;
    return s->spec.containers[i].life.post_start.kind == HANDLER_NONE || !s->runs[i].pid ||
           life_is_up(&s->lives[i]);
}

bool supervisor_start_due(struct supervisor *s, int64_t *wake)
{
    int64_t now = moment_wall_ms();
    bool ended = true, may_start = true, has_outcome = supervisor_has_outcome(s);
    for (size_t i = 0; i < s->state.count; i++) {
        struct container_state *state = &s->state.containers[i];
        bool wanted = !supervisor_is_stopping(s) && !(has_outcome && s->spec.containers[i].sidecar);
        if (may_start && wanted && state->phase == CONTAINER_WAITING && !s->runs[i].pid &&
            state->next_start_ms <= now)
            start_container(s, i);
        bool has_process = s->runs[i].pid != 0;
        bool waits = may_start && wanted && state->phase == CONTAINER_WAITING;
        if (!has_process && waits && state->next_start_ms < *wake)
            *wake = state->next_start_ms;
        if (has_process || waits)
            ended = false;
        /* If false, the containers after this one wait, or never run. */
        may_start = may_start && next_may_start(s, i);
    }
    return ended;
}
