/* Runs the hooks and probes of one container and ends it; see step/life.h. */
#include "node/step/life.h"

#include "base/mem.h"
#include "base/str.h"

#include <signal.h>
#include <stdio.h>

enum {
    /* The least time between SIGTERM and SIGKILL if a preStop hook or other containers came first,
     * as in the kubelet. */
    TERMINATE_LEAST_MS = 2000,
    HOOK = PROBE_KINDS, /* the index of the hook in `checks` */
};

/* The User-Agent headers of probes and hooks. */
#define PROBE_AGENT "kube-probe/1.36"
#define HOOK_AGENT  "kube-lifecycle/1.36"

static const struct pod_life *life_spec(const struct container_life *life)
{
    return &life->run->spec->life;
}

/* ---- Its states ---- */

#define ENDING_STATES                                                                              \
    (STATE_BIT(LIFE_WAITING) | STATE_BIT(LIFE_PRE_STOP) | STATE_BIT(LIFE_TERMINATING))

static const struct state_row LIFE_ROWS[] = {
    [LIFE_NONE] = {"none", STATE_BIT(LIFE_POST_START) | STATE_BIT(LIFE_RUNNING) | ENDING_STATES,
                   true},
    [LIFE_POST_START] = {"post-start",
                         STATE_BIT(LIFE_RUNNING) | ENDING_STATES | STATE_BIT(LIFE_NONE)},
    [LIFE_RUNNING] = {"running", ENDING_STATES | STATE_BIT(LIFE_NONE)},
    [LIFE_PRE_STOP] = {"pre-stop", STATE_BIT(LIFE_WAITING) | STATE_BIT(LIFE_TERMINATING) |
                                       STATE_BIT(LIFE_NONE)},
    [LIFE_WAITING] = {"waiting", STATE_BIT(LIFE_TERMINATING) | STATE_BIT(LIFE_NONE)},
    [LIFE_TERMINATING] = {"terminating", STATE_BIT(LIFE_NONE)},
};

static bool life_has_probes_running(const struct container_life *life)
{
    for (int kind = 0; kind < PROBE_KINDS; kind++)
        if (life->checks[kind].runs)
            return true;
    return false;
}

static const char *life_invariant(const struct state_machine *machine)
{
    const struct container_life *life = CONTAINER_OF(machine, struct container_life, machine);
    enum life_state state = (enum life_state)machine->state;
    bool hook_runs = life->checks[HOOK].runs;
    if (state != LIFE_NONE && !life->run->pid)
        return "the container has no process";
    if (hook_runs != (state == LIFE_POST_START || state == LIFE_PRE_STOP))
        return hook_runs ? "a hook still runs" : "no hook runs";
    if (state != LIFE_RUNNING && life_has_probes_running(life))
        return "a probe still runs";
    if (life_is_ending(life) && life->cause == LIFE_END_NONE)
        return "the end has no cause";
    if (state == LIFE_PRE_STOP && !life->ran_pre_stop)
        return "the hook is not a preStop hook";
    return NULL;
}

static enum life_state life_state(const struct container_life *life)
{
    return (enum life_state)life->machine.state;
}

bool life_is_up(const struct container_life *life)
{
    return life_state(life) >= LIFE_RUNNING;
}

bool life_was_killed_by_probe(const struct container_life *life)
{
    return life->cause == LIFE_END_PROBE && (life->run->got_sigterm || life->ran_pre_stop);
}

static void life_mark_unwritten(struct container_life *life, enum life_unwritten unwritten)
{
    if (life->unwritten < unwritten)
        life->unwritten = unwritten;
}

void life_init(struct container_life *life, struct container_run *run, struct pod_state *pod)
{
    *life = (struct container_life){.run = run, .pod = pod};
    state_machine_init(&life->machine, "container", LIFE_ROWS, (int)ARRAY_SIZE(LIFE_ROWS),
                       LIFE_NONE);
    state_machine_set_invariant(&life->machine, life_invariant);
    for (int i = 0; i < LIFE_CHECKS; i++)
        life->checks[i] = (struct step_check)STEP_CHECK_INIT;
    for (int kind = 0; kind < PROBE_KINDS; kind++)
        life->probes.settings[kind] = &life_spec(life)->settings[kind];
}

static void cancel_checks(struct container_life *life)
{
    for (int i = 0; i < LIFE_CHECKS; i++)
        step_check_cancel(&life->checks[i]);
}

static void start_check(struct container_life *life, int which, const struct pod_handler *handler,
                        int64_t timeout_ms, int64_t now_ms)
{
    const struct step_check_options options = {
        .run = life->run,
        .handler = handler,
        .agent = which == HOOK ? HOOK_AGENT : PROBE_AGENT,
        .timeout_ms = timeout_ms,
    };
    step_check_start(&life->checks[which], &options, now_ms);
}

/* Copies the results of the probes into the container's state. */
static void show_health(struct container_life *life)
{
    struct container_state *state = life->run->state;
    bool started = life_is_up(life) && probe_set_is_started(&life->probes);
    bool ready = life_is_up(life) && probe_set_is_ready(&life->probes);
    if (state->started != started || state->ready != ready)
        life_mark_unwritten(life, LIFE_NEEDS_WRITE);
    state->started = started;
    state->ready = ready;
}

static void life_record_event(struct container_life *life, bool is_warning, const char *reason,
                              const char *message)
{
    pod_state_record_event(life->pod, life->run->spec->name, is_warning, reason, "%s", message);
    life_mark_unwritten(life, LIFE_NEEDS_WRITE);
}

static void become_running(struct container_life *life, int64_t now_ms)
{
    struct container_state *state = life->run->state;
    state_machine_move(&life->machine, LIFE_RUNNING);
    state->phase = CONTAINER_RUNNING;
    state->reason[0] = state->message[0] = '\0';
    probe_set_begin(&life->probes, now_ms);
    life_mark_unwritten(life, LIFE_NEEDS_SYNC);
    show_health(life);
}

void life_begin(struct container_life *life, int64_t now_ms)
{
    const char *name = life->run->spec->name;
    pod_state_record_event(life->pod, name, false, "Created", "Created container %s", name);
    pod_state_record_event(life->pod, name, false, "Started", "Started container %s", name);
    life_mark_unwritten(life, LIFE_NEEDS_SYNC);
    /* The container may have been told to end while its sandbox was being built. */
    if (life_is_ending(life)) {
        life->run->state->phase = CONTAINER_RUNNING;
        return;
    }
    life->cause = LIFE_END_NONE;
    life->ran_pre_stop = false;
    if (life_spec(life)->post_start.kind == HANDLER_NONE) {
        become_running(life, now_ms);
        return;
    }
    start_check(life, HOOK, &life_spec(life)->post_start, 0, now_ms);
    state_machine_move(&life->machine, LIFE_POST_START);
}

void life_over(struct container_life *life)
{
    cancel_checks(life);
    if (life_state(life) != LIFE_NONE)
        state_machine_move(&life->machine, LIFE_NONE);
    life->run->state->started = life->run->state->ready = false;
}

/* ---- Its end ---- */

bool life_is_ending(const struct container_life *life)
{
    return life_state(life) >= LIFE_PRE_STOP;
}

/* Returns true if a preStop hook or the end of other containers may come before SIGTERM and use up
 * the grace period. */
static bool life_ends_in_steps(const struct container_life *life)
{
    return life->run->spec->sidecar || life_spec(life)->pre_stop.kind != HANDLER_NONE;
}

static void life_wait_for_others(struct container_life *life, int64_t now_ms)
{
    cancel_checks(life);
    state_machine_move(&life->machine, LIFE_WAITING);
    if (!life->run->spec->sidecar)
        life_terminate_waiting(life, now_ms);
}

void life_terminate_waiting(struct container_life *life, int64_t now_ms)
{
    if (life_state(life) != LIFE_WAITING)
        return;
    if (life_ends_in_steps(life) && life->kill_at_ms < now_ms + TERMINATE_LEAST_MS)
        life->kill_at_ms = now_ms + TERMINATE_LEAST_MS;
    state_machine_move(&life->machine, LIFE_TERMINATING);
    kill(life->run->pid, SIGTERM);
}

static void life_begin_end(struct container_life *life, enum life_end_cause cause, int64_t grace_ms,
                           int64_t now_ms)
{
    bool was_running = life_state(life) == LIFE_RUNNING;
    cancel_checks(life);
    life->cause = cause;
    life->kill_at_ms = now_ms + grace_ms;
    /* The preStop hook runs only in a container that counts as running, and only if there is time
     * for it. */
    life->ran_pre_stop =
        was_running && life_spec(life)->pre_stop.kind != HANDLER_NONE && grace_ms > 0;
    if (life->ran_pre_stop) {
        start_check(life, HOOK, &life_spec(life)->pre_stop, 0, now_ms);
        state_machine_move(&life->machine, LIFE_PRE_STOP);
    } else {
        life_wait_for_others(life, now_ms);
    }
}

/* Makes life_advance() send SIGKILL. No SIGTERM is sent before, because the program could handle it
 * before SIGKILL comes. */
static void life_end_by_force(struct container_life *life, int64_t now_ms)
{
    cancel_checks(life);
    if (!life_is_ending(life))
        life->cause = LIFE_END_ORDER;
    life->kill_at_ms = now_ms;
    if (life_state(life) != LIFE_TERMINATING)
        state_machine_move(&life->machine, LIFE_TERMINATING);
}

void life_end(struct container_life *life, int64_t grace_ms, int64_t now_ms)
{
    if (!life->run->pid)
        return;
    bool was_ending = life_is_ending(life);
    if (!was_ending) {
        pod_state_record_event(life->pod, life->run->spec->name, false, "Killing",
                               "Stopping container %s", life->run->spec->name);
        life_mark_unwritten(life, LIFE_NEEDS_WRITE);
    }
    if (grace_ms == 0)
        life_end_by_force(life, now_ms);
    else if (!was_ending)
        life_begin_end(life, LIFE_END_ORDER, grace_ms, now_ms);
    else if (now_ms + grace_ms < life->kill_at_ms)
        life->kill_at_ms = now_ms + grace_ms;
}

/* Begins to end this container while its pod continues. */
static void life_end_alone(struct container_life *life, enum life_end_cause cause, int64_t grace_ms,
                           const char *message, int64_t now_ms)
{
    life_record_event(life, false, "Killing", message);
    life_begin_end(life, cause, grace_ms, now_ms);
}

/* ---- Its hooks and probes ---- */

static bool hook_passed(const struct step_verdict *verdict)
{
    return verdict->outcome != CHECK_FAILED || verdict->answered;
}

static void apply_hook_verdict(struct container_life *life, const struct step_verdict *verdict,
                               int64_t now_ms)
{
    bool passed = hook_passed(verdict);
    if (life_state(life) == LIFE_PRE_STOP) {
        if (!passed)
            life_record_event(life, true, "FailedPreStopHook", "PreStopHook failed");
        life_wait_for_others(life, now_ms);
    } else if (life_state(life) == LIFE_POST_START && passed) {
        become_running(life, now_ms);
    } else if (life_state(life) == LIFE_POST_START) {
        life_record_event(life, true, "FailedPostStartHook", "PostStartHook failed");
        life_end_alone(life, LIFE_END_ORDER, life->run->pod->grace_ms, "FailedPostStartHook",
                       now_ms);
    }
}

static void end_unhealthy(struct container_life *life, enum probe_kind kind, int64_t now_ms)
{
    const struct probe_settings *settings = life->probes.settings[kind];
    const struct pod_spec *pod = life->run->pod;
    char message[POD_MESSAGE_MAX];
    bool will_restart = pod_container_restart(pod, life->run->spec) != RESTART_NEVER;
    snprintf(message, sizeof(message), "Container %s failed %s probe%s", life->run->spec->name,
             probe_kind_name(kind), will_restart ? ", will be restarted" : "");
    life_end_alone(life, LIFE_END_PROBE,
                   settings->grace_ms >= 0 ? settings->grace_ms : pod->grace_ms, message, now_ms);
}

static void apply_probe_verdict(struct container_life *life, enum probe_kind kind,
                                const struct step_verdict *verdict, int64_t now_ms)
{
    if (life_state(life) != LIFE_RUNNING)
        return;
    const char *title = probe_kind_title(kind);
    if (verdict->outcome == CHECK_FAILED)
        pod_state_record_event(life->pod, life->run->spec->name, true, "Unhealthy",
                               "%s probe failed: %s", title, verdict->message);
    else if (verdict->outcome == CHECK_WARNING)
        pod_state_record_event(life->pod, life->run->spec->name, true, "ProbeWarning",
                               "%s probe warning: %s", title, verdict->message);
    if (verdict->outcome != CHECK_PASSED)
        life_mark_unwritten(life, LIFE_NEEDS_WRITE);
    if (probe_set_take(&life->probes, kind, verdict->outcome != CHECK_FAILED, now_ms))
        end_unhealthy(life, kind, now_ms);
    show_health(life);
}

static void try_probes(struct container_life *life, int64_t now_ms, int64_t *wake)
{
    for (int kind = 0; kind < PROBE_KINDS; kind++) {
        int64_t due = probe_set_next(&life->probes, kind);
        if (life->checks[kind].runs)
            continue; /* the end of the check or its deadline wakes the supervisor */
        if (due <= now_ms) {
            probe_set_tried(&life->probes, kind, now_ms);
            start_check(life, kind, &life_spec(life)->probes[kind],
                        life->probes.settings[kind]->timeout_ms, now_ms);
            due = life->checks[kind].deadline_ms;
        }
        if (due < *wake)
            *wake = due;
    }
}

void life_advance(struct container_life *life, int64_t now_ms, int64_t *wake)
{
    struct step_verdict verdict;
    for (int i = 0; i < LIFE_CHECKS; i++) {
        if (!step_check_look(&life->checks[i], now_ms, wake, &verdict))
            continue;
        if (i != HOOK && verdict.outcome == CHECK_FAILED && container_run_is_ending(life->run))
            continue; /* the probe failed because the container has ended; SIGCHLD follows */
        if (i == HOOK)
            apply_hook_verdict(life, &verdict, now_ms);
        else
            apply_probe_verdict(life, i, &verdict, now_ms);
    }
    if (life_state(life) == LIFE_RUNNING)
        try_probes(life, now_ms, wake);
    if (!life_is_ending(life))
        return;
    if (now_ms >= life->kill_at_ms && life_state(life) == LIFE_PRE_STOP)
        life_wait_for_others(life, now_ms);
    if (now_ms >= life->kill_at_ms && life_state(life) == LIFE_WAITING)
        life_terminate_waiting(life, now_ms);
    if (now_ms >= life->kill_at_ms)
        kill(life->run->pid, SIGKILL);
    else if (life->kill_at_ms < *wake)
        *wake = life->kill_at_ms;
}

void life_reaped(struct container_life *life, pid_t pid, int wait_status)
{
    for (int i = 0; i < LIFE_CHECKS; i++)
        step_check_reaped(&life->checks[i], pid, wait_status);
}

size_t life_children(const struct container_life *life, pid_t *ret)
{
    size_t count = 0;
    for (size_t i = 0; i < LIFE_CHECKS; i++) {
        if (life->checks[i].pid > 0)
            ret[count++] = life->checks[i].pid;
        if (life->checks[i].exec.pid > 0)
            ret[count++] = life->checks[i].exec.pid;
    }
    return count;
}

void life_polls(const struct container_life *life, struct pollfd *ret)
{
    for (int i = 0; i < LIFE_CHECKS; i++)
        ret[i] = (struct pollfd){.fd = step_check_fd(&life->checks[i]), .events = POLLIN};
}
