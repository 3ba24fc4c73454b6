/* Ends a pod because of an order of the control process, because the machine goes down, or because
 * its deadline has passed; see step/supervisor.h. */
#include "node/step/supervisor.h"

#include "base/moment.h"
#include "base/str.h"

static void stop_containers(struct supervisor *s, int64_t grace_ms)
{
    for (size_t i = 0; i < s->state.count; i++)
        life_end(&s->lives[i], grace_ms, moment_monotonic_ms());
}

struct pod_stop supervisor_read_stop(struct supervisor *s)
{
    struct pod_stop stop = {.grace_ms =
                                s->spec.grace_ms}; /* kept if the order could not be stored */
    pod_stop_load(s->directory, &stop);
    if (stop.reason[0] && !s->state.reason[0]) {
        str_copy(s->state.reason, sizeof(s->state.reason), stop.reason);
        str_copy(s->state.message, sizeof(s->state.message), stop.message);
        pod_state_record_event(&s->state, NULL, true, stop.reason, "%s", stop.message);
        s->must_store = true;
    }
    return stop;
}

/* Returns the state in which the supervisor carries out the order. `is_from_control` is false for
 * the SIGTERM that init sends to each process when the machine goes down. That signal does not
 * replace an earlier order of the control process. */
static enum supervisor_state stop_target(const struct supervisor *s, const struct pod_stop *stop,
                                         bool is_from_control)
{
    enum supervisor_state now = supervisor_state(s);
    if (s->state.reason[0])
        return SUPERVISOR_ENDING; /* a pod that was evicted or is past its deadline never runs again
                                   */
    if (!is_from_control && (now == SUPERVISOR_RUNNING || now == SUPERVISOR_SHUTDOWN))
        return SUPERVISOR_SHUTDOWN;
    return stop->pause && !stop->deleted ? SUPERVISOR_PAUSING : SUPERVISOR_ENDING;
}

void supervisor_begin_stop(struct supervisor *s, bool is_from_control)
{
    struct pod_stop stop = supervisor_read_stop(s);
    s->is_deleted = stop.deleted;
    enum supervisor_state target = stop_target(s, &stop, is_from_control);
    if (supervisor_state(s) == SUPERVISOR_PAUSED && target == SUPERVISOR_ENDING)
        supervisor_move(s, SUPERVISOR_ENDED);
    else if (supervisor_state(s) < SUPERVISOR_PAUSED)
        supervisor_move(s, target);
    stop_containers(s, stop.grace_ms);
}

/* Uses the changed deadline only if it is earlier: the API does not allow a later one. */
void supervisor_read_deadline(struct supervisor *s)
{
    int64_t changed;
    if (pod_deadline_load(s->directory, &changed, NULL) == 0 &&
        (!s->spec.deadline_ms || changed < s->spec.deadline_ms))
        s->spec.deadline_ms = changed;
}

/* The deadline is a wall time, as in Kubernetes. */
void supervisor_check_deadline(struct supervisor *s, int64_t *wake)
{
    if (!s->spec.deadline_ms || supervisor_is_stopping(s))
        return;
    if (moment_wall_ms() < s->spec.deadline_ms) {
        if (s->spec.deadline_ms < *wake)
            *wake = s->spec.deadline_ms;
        return;
    }
    str_copy(s->state.reason, sizeof(s->state.reason), "DeadlineExceeded");
    str_copy(s->state.message, sizeof(s->state.message),
             "Pod was active on the node longer than the specified deadline");
    pod_state_record_event(&s->state, NULL, false, s->state.reason, "%s", s->state.message);
    s->must_store = true;
    supervisor_move(s, SUPERVISOR_ENDING);
    stop_containers(s, s->spec.grace_ms);
}

/* Sends SIGTERM to the containers in LIFE_WAITING. While the pod ends, a sidecar gets it only after
 * all containers that come later in the list have ended. */
static void stop_terminate_waiting(struct supervisor *s, bool has_outcome)
{
    bool later_runs = false;
    for (size_t i = s->state.count; i-- > 0;) {
        if (!later_runs || !(supervisor_is_stopping(s) || has_outcome))
            life_terminate_waiting(&s->lives[i], moment_monotonic_ms());
        later_runs = later_runs || s->runs[i].pid;
    }
}

void supervisor_advance_lives(struct supervisor *s, int64_t *wake)
{
    int64_t now = moment_monotonic_ms();
    bool has_outcome = supervisor_has_outcome(s);
    for (size_t i = 0; i < s->state.count; i++) {
        if (has_outcome && s->spec.containers[i].sidecar && !life_is_ending(&s->lives[i]))
            life_end(&s->lives[i], s->spec.grace_ms, now);
        if (s->runs[i].pid)
            life_advance(&s->lives[i], now, wake);
    }
    stop_terminate_waiting(s, has_outcome);
}
