/* Runs the state machine and the loop of a pod's supervisor; see step/supervisor.h. */
#include "node/step/supervisor.h"

#include "node/step/sandbox/limits.h"

#include "base/mem.h"
#include "base/moment.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum {
    STORE_AGAIN_MS = 1000,               /* pause after the state could not be written */
    FDS_PER_CONTAINER = 3 + LIFE_CHECKS, /* to poll: two outputs, the reports, and the checks */
};

/* ---- States ---- */

#define STOP_STATES                                                                                \
    (STATE_BIT(SUPERVISOR_ENDING) | STATE_BIT(SUPERVISOR_PAUSING) | STATE_BIT(SUPERVISOR_SHUTDOWN))

/* The allowed changes of state. A later order replaces an earlier one: a pod that is being paused
 * may be deleted meanwhile. */
static const struct state_row SUPERVISOR_ROWS[] = {
    [SUPERVISOR_RESTORING] = {"restoring", STATE_BIT(SUPERVISOR_RUNNING) |
                                               STATE_BIT(SUPERVISOR_ENDING) |
                                               STATE_BIT(SUPERVISOR_ENDED)},
    [SUPERVISOR_RUNNING] = {"running", STOP_STATES | STATE_BIT(SUPERVISOR_ENDED)},
    [SUPERVISOR_ENDING] = {"ending", STATE_BIT(SUPERVISOR_PAUSING) | STATE_BIT(SUPERVISOR_ENDED)},
    [SUPERVISOR_PAUSING] = {"pausing", STATE_BIT(SUPERVISOR_ENDING) | STATE_BIT(SUPERVISOR_PAUSED) |
                                           STATE_BIT(SUPERVISOR_ENDED)},
    [SUPERVISOR_SHUTDOWN] = {"shutdown",
                             STATE_BIT(SUPERVISOR_ENDING) | STATE_BIT(SUPERVISOR_PAUSING) |
                                 STATE_BIT(SUPERVISOR_PAUSED) | STATE_BIT(SUPERVISOR_ENDED)},
    [SUPERVISOR_PAUSED] = {"paused", STATE_BIT(SUPERVISOR_ENDED), true},
    [SUPERVISOR_ENDED] = {"ended", 0, true},
};

static bool supervisor_has_process(const struct supervisor *s)
{
    for (size_t i = 0; i < s->state.count; i++)
        if (s->runs[i].pid)
            return true;
    return false;
}

static bool supervisor_has_waiting(const struct supervisor *s)
{
    for (size_t i = 0; i < s->state.count; i++)
        if (s->state.containers[i].phase == CONTAINER_WAITING)
            return true;
    return false;
}

static const char *supervisor_invariant(const struct state_machine *machine)
{
    const struct supervisor *s = CONTAINER_OF(machine, struct supervisor, machine);
    bool is_over = machine->state == SUPERVISOR_PAUSED || machine->state == SUPERVISOR_ENDED;
    bool has_reason = s->state.reason[0] != '\0';
    if (is_over && supervisor_has_process(s))
        return "a container still runs";
    if (has_reason && machine->state != SUPERVISOR_ENDING && machine->state != SUPERVISOR_ENDED)
        return "the pod has a reason to end";
    if (machine->state == SUPERVISOR_PAUSED && !supervisor_has_waiting(s))
        return "no container is left to start";
    return NULL;
}

void supervisor_init(struct supervisor *s, const char *directory)
{
    s->directory = directory;
    state_machine_init(&s->machine, "supervisor", SUPERVISOR_ROWS, (int)ARRAY_SIZE(SUPERVISOR_ROWS),
                       SUPERVISOR_RESTORING);
    state_machine_set_invariant(&s->machine, supervisor_invariant);
}

enum supervisor_state supervisor_state(const struct supervisor *s)
{
    return (enum supervisor_state)s->machine.state;
}

void supervisor_move(struct supervisor *s, enum supervisor_state state)
{
    if (supervisor_state(s) != state)
        state_machine_move(&s->machine, (int)state);
}

bool supervisor_is_pausing(const struct supervisor *s)
{
    return supervisor_state(s) == SUPERVISOR_PAUSING || supervisor_state(s) == SUPERVISOR_SHUTDOWN;
}

bool supervisor_is_stopping(const struct supervisor *s)
{
    return supervisor_state(s) >= SUPERVISOR_ENDING;
}

/* ---- Its loop ---- */

/* Writes the state if it has changed. If that fails, for example because the disk is full, *wake
 * becomes the time of the next attempt. A failure because the pod's directory is gone is ignored.
 */
static void supervisor_store(struct supervisor *s, int64_t *wake)
{
    struct err err = ERR_INIT;
    bool needs_write = false;
    for (size_t i = 0; i < s->state.count; i++) {
        struct container_life *life = &s->lives[i];
        s->must_store = s->must_store || life->unwritten == LIFE_NEEDS_SYNC;
        needs_write = needs_write || life->unwritten != LIFE_WRITTEN;
        life->unwritten = LIFE_WRITTEN;
    }
    /* Results of probes are written without waiting for the disk, because the next supervisor
     * determines them again. Events may be lost if the machine crashes. */
    int result = s->must_store ? pod_state_store(s->directory, &s->state, &err)
                 : needs_write ? pod_state_show(s->directory, &s->state, &err)
                               : 0;
    if (result < 0 && err.code != ERR_NOT_FOUND) {
        int64_t again = moment_wall_ms() + STORE_AGAIN_MS;
        *wake = again < *wake ? again : *wake;
        s->must_store = true;
        return;
    }
    s->must_store = false;
    bool pauses_again = supervisor_is_pausing(s) || supervisor_state(s) == SUPERVISOR_PAUSED;
    if (s->has_pause_mark && !pauses_again)
        pod_pause_clear(s->directory);
    s->has_pause_mark = false;
}

void supervisor_read_container(struct supervisor *s, size_t i)
{
    if (container_run_read(&s->runs[i]))
        life_begin(&s->lives[i], moment_monotonic_ms());
}

static void supervisor_handle_signals(struct supervisor *s)
{
    struct signalfd_siginfo info;
    while (read(s->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo == SIGTERM)
            supervisor_begin_stop(s, pod_stop_is_told(info.ssi_code));
        else if (info.ssi_signo == SIGHUP)
            supervisor_read_deadline(s);
        else if (info.ssi_signo == SIGCHLD)
            supervisor_reap(s);
    }
}

/* Returns the time to wait in ms, or -1 if there is no limit. */
static int64_t supervisor_time_left(int64_t wake_wall, int64_t wake_monotonic)
{
    int64_t wall = wake_wall == INT64_MAX ? INT64_MAX : wake_wall - moment_wall_ms();
    int64_t monotonic =
        wake_monotonic == INT64_MAX ? INT64_MAX : wake_monotonic - moment_monotonic_ms();
    int64_t left = wall < monotonic ? wall : monotonic;
    if (left == INT64_MAX)
        return -1;
    /* Waits at most one minute, because the wall clock may be set. */
    return left < 0 ? 0 : left > 60000 ? 60000 : left;
}

static void supervisor_wait(struct supervisor *s, int64_t wake_wall, int64_t wake_monotonic)
{
    struct pollfd polls[1 + POD_CONTAINERS_MAX * FDS_PER_CONTAINER + STEP_SERVER_POLLS_MAX] = {
        {.fd = s->signal_fd, .events = POLLIN}};
    nfds_t count = 1;
    for (size_t i = 0; i < s->state.count; i++) {
        const struct container_run *run = &s->runs[i];
        const int fds[] = {
            container_run_output(run, 0), container_run_output(run, 1),
            /* Not polled after the report that the command runs or has failed: SIGCHLD shows the
             * end of the container, and a closed socket would make poll() return at once. */
            run->has_report ? -1 : run->report_fd};
        for (size_t k = 0; k < ARRAY_SIZE(fds); k++)
            polls[count++] = (struct pollfd){.fd = fds[k], .events = POLLIN};
        life_polls(&s->lives[i], &polls[count]);
        count += LIFE_CHECKS;
    }
    count += step_server_poll(&s->server, polls + count);
    if (poll(polls, count, (int)supervisor_time_left(wake_wall, wake_monotonic)) < 0)
        return; /* a signal interrupted poll(): the loop checks everything again */
    for (size_t i = 0; i < s->state.count; i++) {
        const struct pollfd *container_polls = &polls[1 + i * FDS_PER_CONTAINER];
        if (container_polls[0].revents || container_polls[1].revents || container_polls[2].revents)
            supervisor_read_container(s, i);
    }
    if (polls[0].revents)
        supervisor_handle_signals(s);
    step_server_serve(&s->server, moment_wall_ms());
}

/* Ends or pauses the pod. Called when no container runs and this supervisor starts no further
 * one. */
static void supervisor_finish(struct supervisor *s)
{
    bool is_paused = (supervisor_is_pausing(s) || supervisor_state(s) == SUPERVISOR_PAUSED) &&
                     supervisor_has_waiting(s);
    supervisor_move(s, is_paused ? SUPERVISOR_PAUSED : SUPERVISOR_ENDED);
    s->state.finished = !is_paused;
    s->must_store = true;
    step_limits_end_pod(&s->spec); /* before the end is reported */
}

void supervisor_run(struct supervisor *s)
{
    for (;;) {
        int64_t wake_wall = step_server_wake(&s->server), wake_monotonic = INT64_MAX;
        supervisor_check_deadline(s, &wake_wall);
        supervisor_advance_lives(s, &wake_monotonic);
        bool ended = supervisor_start_due(s, &wake_wall);
        if (ended)
            supervisor_finish(s);
        supervisor_store(s, &wake_wall);
        if (ended && (!s->must_store || s->is_deleted)) {
            step_server_close(&s->server);
            return;
        }
        supervisor_wait(s, wake_wall, wake_monotonic);
    }
}
