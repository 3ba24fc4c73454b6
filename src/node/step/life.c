/* The life of one container; see step/life.h. */
#include "node/step/life.h"

#include "base/str.h"

#include <signal.h>
#include <stdio.h>

/* What a container has left at least to end, however long its hook took; as the kubelet's. */
enum { TERMINATE_LEAST_MS = 2000, HOOK = PROBE_KINDS };

/* Probes and hooks are told apart by who asks. */
#define PROBE_AGENT "kube-probe/1.36"
#define HOOK_AGENT  "kube-lifecycle/1.36"

static const struct pod_life *orders(const struct container_life *life)
{
    return &life->run->spec->life;
}

void life_init(struct container_life *life, struct container_run *run, struct pod_state *pod)
{
    *life = (struct container_life){.run = run, .pod = pod};
    for (int i = 0; i < LIFE_CHECKS; i++)
        life->checks[i] = (struct step_check)STEP_CHECK_INIT;
    for (int kind = 0; kind < PROBE_KINDS; kind++)
        life->probes.figures[kind] = &orders(life)->figures[kind];
}

static void cancel_checks(struct container_life *life)
{
    for (int i = 0; i < LIFE_CHECKS; i++)
        step_check_cancel(&life->checks[i]);
}

static void start_check(struct container_life *life, int which, const struct pod_handler *handler,
                        int64_t timeout_ms, int64_t now_ms)
{
    const struct step_check_order order = {
        .run = life->run,
        .handler = handler,
        .agent = which == HOOK ? HOOK_AGENT : PROBE_AGENT,
        .timeout_ms = timeout_ms,
    };
    step_check_start(&life->checks[which], &order, now_ms);
}

/* What the probes say becomes the state. */
static void show_health(struct container_life *life)
{
    struct container_state *state = life->run->state;
    bool runs = life->stage >= LIFE_RUNNING;
    bool started = runs && probe_set_is_started(&life->probes);
    bool ready = runs && probe_set_is_ready(&life->probes);
    life->has_news = life->has_news || state->started != started || state->ready != ready;
    state->started = started;
    state->ready = ready;
}

static void tell(struct container_life *life, bool is_warning, const char *reason,
                 const char *message)
{
    pod_state_tell(life->pod, life->run->spec->name, is_warning, reason, "%s", message);
    life->has_news = true;
}

static void become_running(struct container_life *life, int64_t now_ms)
{
    struct container_state *state = life->run->state;
    life->stage = LIFE_RUNNING;
    state->phase = CONTAINER_RUNNING;
    state->reason[0] = state->message[0] = '\0';
    probe_set_begin(&life->probes, now_ms);
    life->has_changed = true;
    show_health(life);
}

void life_begin(struct container_life *life, int64_t now_ms)
{
    const char *name = life->run->spec->name;
    pod_state_tell(life->pod, name, false, "Created", "Created container %s", name);
    pod_state_tell(life->pod, name, false, "Started", "Started container %s", name);
    life->has_changed = true;
    if (life_is_ending(life)) { /* it was told so while its sandbox was made */
        life->run->state->phase = CONTAINER_RUNNING;
        return;
    }
    life->was_unhealthy = false;
    if (orders(life)->post_start.kind == HANDLER_NONE) {
        become_running(life, now_ms);
        return;
    }
    life->stage = LIFE_POST_START;
    start_check(life, HOOK, &orders(life)->post_start, 0, now_ms);
}

void life_over(struct container_life *life)
{
    cancel_checks(life);
    life->stage = LIFE_NONE;
    life->run->state->started = life->run->state->ready = false;
}

/* ---- Its end ---- */

bool life_is_ending(const struct container_life *life)
{
    return life->stage >= LIFE_PRE_STOP;
}

static void hook_is_over(struct container_life *life, int64_t now_ms)
{
    step_check_cancel(&life->checks[HOOK]);
    life->stage = LIFE_WAITS;
    if (!life->run->spec->sidecar)
        life_take_turn(life, now_ms);
}

void life_take_turn(struct container_life *life, int64_t now_ms)
{
    if (life->stage != LIFE_WAITS)
        return;
    if (life->had_to_wait && life->kill_at_ms < now_ms + TERMINATE_LEAST_MS)
        life->kill_at_ms = now_ms + TERMINATE_LEAST_MS;
    life->stage = LIFE_TERMINATING;
    kill(life->run->pid, SIGTERM);
}

static void begin_end(struct container_life *life, int64_t grace_ms, int64_t now_ms)
{
    bool was_up = life->stage == LIFE_RUNNING;
    for (int kind = 0; kind < PROBE_KINDS; kind++)
        step_check_cancel(&life->checks[kind]);
    step_check_cancel(&life->checks[HOOK]);
    life->kill_at_ms = now_ms + grace_ms;
    life->stage = LIFE_PRE_STOP;
    /* Of one that is still being made there is nobody to run a hook with. */
    life->had_to_wait = life->run->spec->sidecar || orders(life)->pre_stop.kind != HANDLER_NONE;
    life->ran_hook = was_up && orders(life)->pre_stop.kind != HANDLER_NONE && grace_ms > 0;
    if (life->ran_hook)
        start_check(life, HOOK, &orders(life)->pre_stop, 0, now_ms);
    else
        hook_is_over(life, now_ms);
}

void life_end(struct container_life *life, int64_t grace_ms, int64_t now_ms)
{
    if (!life->run->pid)
        return;
    if (!life_is_ending(life)) {
        pod_state_tell(life->pod, life->run->spec->name, false, "Killing", "Stopping container %s",
                       life->run->spec->name);
        life->has_news = true;
        begin_end(life, grace_ms, now_ms);
    } else if (now_ms + grace_ms < life->kill_at_ms) {
        life->kill_at_ms = now_ms + grace_ms;
    }
    if (grace_ms == 0) { /* by force */
        life->stage = LIFE_TERMINATING;
        life->kill_at_ms = now_ms;
    }
}

/* Only this container, because of itself. */
static void end_unwell(struct container_life *life, int64_t grace_ms, const char *message,
                       int64_t now_ms)
{
    tell(life, false, "Killing", message);
    begin_end(life, grace_ms, now_ms);
}

/* ---- Its hooks and probes ---- */

static bool hook_passed(const struct step_verdict *verdict)
{
    return verdict->outcome != CHECK_FAILED || verdict->answered;
}

static void take_hook(struct container_life *life, const struct step_verdict *verdict,
                      int64_t now_ms)
{
    bool passed = hook_passed(verdict);
    if (life->stage == LIFE_PRE_STOP) {
        if (!passed)
            tell(life, true, "FailedPreStopHook", "PreStopHook failed");
        hook_is_over(life, now_ms);
    } else if (life->stage == LIFE_POST_START && passed) {
        become_running(life, now_ms);
    } else if (life->stage == LIFE_POST_START) {
        tell(life, true, "FailedPostStartHook", "PostStartHook failed");
        end_unwell(life, life->run->pod->grace_ms, "FailedPostStartHook", now_ms);
    }
}

static void end_unhealthy(struct container_life *life, enum probe_kind kind, int64_t now_ms)
{
    const struct probe_figures *figures = life->probes.figures[kind];
    const struct pod_spec *pod = life->run->pod;
    char message[POD_MESSAGE_MAX];
    bool again = pod_container_restart(pod, life->run->spec) != RESTART_NEVER;
    snprintf(message, sizeof(message), "Container %s failed %s probe%s", life->run->spec->name,
             probe_kind_name(kind), again ? ", will be restarted" : "");
    life->was_unhealthy = true;
    end_unwell(life, figures->grace_ms >= 0 ? figures->grace_ms : pod->grace_ms, message, now_ms);
}

static void take_probe(struct container_life *life, enum probe_kind kind,
                       const struct step_verdict *verdict, int64_t now_ms)
{
    if (life->stage != LIFE_RUNNING)
        return;
    const char *title = probe_kind_title(kind);
    if (verdict->outcome == CHECK_FAILED)
        pod_state_tell(life->pod, life->run->spec->name, true, "Unhealthy", "%s probe failed: %s",
                       title, verdict->message);
    else if (verdict->outcome == CHECK_WARNING)
        pod_state_tell(life->pod, life->run->spec->name, true, "ProbeWarning",
                       "%s probe warning: %s", title, verdict->message);
    life->has_news = life->has_news || verdict->outcome != CHECK_PASSED;
    if (probe_set_take(&life->probes, kind, verdict->outcome != CHECK_FAILED, now_ms))
        end_unhealthy(life, kind, now_ms);
    show_health(life);
}

static void try_probes(struct container_life *life, int64_t now_ms, int64_t *wake)
{
    for (int kind = 0; kind < PROBE_KINDS; kind++) {
        int64_t due = probe_set_next(&life->probes, kind);
        if (life->checks[kind].runs)
            continue; /* its verdict or its time wakes us */
        if (due <= now_ms) {
            probe_set_tried(&life->probes, kind, now_ms);
            start_check(life, kind, &orders(life)->probes[kind],
                        life->probes.figures[kind]->timeout_ms, now_ms);
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
            continue; /* it is not the container that failed; its end is heard of soon */
        if (i == HOOK)
            take_hook(life, &verdict, now_ms);
        else
            take_probe(life, i, &verdict, now_ms);
    }
    if (life->stage == LIFE_RUNNING)
        try_probes(life, now_ms, wake);
    if (!life_is_ending(life))
        return;
    if (now_ms >= life->kill_at_ms && life->stage == LIFE_PRE_STOP)
        hook_is_over(life, now_ms);
    if (now_ms >= life->kill_at_ms && life->stage == LIFE_WAITS)
        life_take_turn(life, now_ms);
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
