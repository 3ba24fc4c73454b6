/* The supervisor of one pod. It owns the pod's network, IPC and UTS namespaces by living in them,
 * starts its containers in order, decides their restarts by the pod's policy, keeps their logs, and
 * writes each change into <pod directory>/state. It needs nobody while it runs: the control process
 * may die and return. SIGTERM tells it to end the pod as <pod directory>/stop says, SIGHUP that its
 * deadline has changed; commands in the containers, and listeners to them, come through its socket
 * (step/server.h). Killed itself, it takes the containers along, and the next supervisor of the pod
 * goes on from the state. */
#include "node/step/sandbox/container.h"

#include "node/pod/stop.h"
#include "node/process/lock.h"
#include "node/step/advice.h"
#include "node/step/life.h"
#include "node/step/sandbox/limits.h"
#include "node/step/sandbox/world.h"
#include "node/step/server.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "base/system/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STORE_AGAIN_MS = 1000, FDS_EACH = 3 + LIFE_CHECKS };

struct supervisor {
    const char *directory;
    struct pod_spec spec;
    struct pod_state state;
    struct container_run runs[POD_CONTAINERS_MAX];
    struct container_life lives[POD_CONTAINERS_MAX];
    struct step_share share;
    int signal_fd;
    struct step_server server;
    bool dirty;        /* the state must be written */
    bool stopping;     /* nothing is started any more */
    bool pausing;      /* … and the next supervisor goes on */
    bool resumed;      /* after a pause, of which the mark stands until the state is stored */
    bool machine_ends; /* … which control has not asked for */
    bool deleted;      /* the pod's object is deleted: its last state need not be written */
};

/* What cannot be written now, because the disk is full or there are no descriptors, is written
 * later: then `wake` is brought forward. Only of a pod whose directory is gone nobody wants to
 * know. */
static void store_state(struct supervisor *s, int64_t *wake)
{
    struct err err = ERR_INIT;
    bool has_news = false;
    for (size_t i = 0; i < s->state.count; i++) {
        struct container_life *life = &s->lives[i];
        s->dirty = s->dirty || life->has_changed;
        has_news = has_news || life->has_news;
        life->has_changed = life->has_news = false;
    }
    /* How a probe went would be found out again; it is not worth waiting for the disk. */
    int result = s->dirty   ? pod_state_store(s->directory, &s->state, &err)
                 : has_news ? pod_state_show(s->directory, &s->state, &err)
                            : 0;
    if (result < 0 && err.code != ERR_NOT_FOUND) {
        int64_t again = moment_wall_ms() + STORE_AGAIN_MS;
        *wake = again < *wake ? again : *wake;
        s->dirty = true;
        return;
    }
    s->dirty = false;
    if (s->resumed && !s->pausing)
        pod_pause_clear(s->directory);
    s->resumed = false;
}

static void set_waiting(struct container_state *state, const char *reason, const char *message)
{
    state->phase = CONTAINER_WAITING;
    str_copy(state->reason, sizeof(state->reason), reason);
    str_copy(state->message, sizeof(state->message), message);
}

/* The main containers have had their chance to start. */
static bool is_past_init(const struct supervisor *s)
{
    for (size_t i = 0; i < s->state.count; i++)
        if (!s->spec.containers[i].init && (s->runs[i].pid || s->state.containers[i].end.known ||
                                            s->state.containers[i].last.known))
            return true;
    return false;
}

/* All that the pod is for has come to its end, well or not: only sidecars may still run. */
static bool is_settled(const struct supervisor *s)
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

/* "back-off 1m20s restarting failed container=main pod=…", the delay as Go writes it. */
static void wait_for_restart(struct supervisor *s, size_t i, int64_t delay_ms)
{
    const char *name = s->spec.containers[i].name;
    const char *pod = s->spec.identity ? s->spec.identity : s->spec.hostname;
    char message[POD_MESSAGE_MAX], minutes[32] = "";
    long long seconds = (long long)delay_ms / 1000;
    if (seconds >= 60)
        snprintf(minutes, sizeof(minutes), "%lldm", seconds / 60);
    snprintf(message, sizeof(message), "back-off %s%llds restarting failed container=%s pod=%s",
             minutes, seconds % 60, name, pod);
    set_waiting(&s->state.containers[i], "CrashLoopBackOff", message);
    pod_state_tell(&s->state, name, true, "BackOff",
                   "Back-off restarting failed container %s in pod %s", name, pod);
}

/* Whom a probe condemned has failed, with whatever exit code it obeyed; but not who was done before
 * it heard of it. A hook may have told it, too. */
static bool was_condemned(const struct supervisor *s, size_t i)
{
    return s->lives[i].was_unhealthy && (s->runs[i].was_told || s->lives[i].ran_hook);
}

/* A run has ended and is in state->end: what next? */
static void decide_after_end(struct supervisor *s, size_t i)
{
    struct container_state *state = &s->state.containers[i];
    const struct pod_container *spec = &s->spec.containers[i];
    s->dirty = true;
    int exit_code =
        was_condemned(s, i) && state->end.exit_code == 0 ? 128 + SIGTERM : state->end.exit_code;
    struct restart_decision decision = restart_decide(
        pod_container_restart(&s->spec, spec), &spec->rules, spec->init && !spec->sidecar,
        exit_code, state->level, state->end.finished_ms - state->end.started_ms);
    if (s->pausing) {
        /* That it ended is no fault of its own: it runs again, at once and blameless; where it is
         * our doing unless it was done, where the machine went down as the policy says. */
        decision.restart = decision.restart || (!s->machine_ends && state->end.exit_code != 0);
        decision.delay_ms = 0;
        decision.level = state->level;
    }
    state->level = decision.level;
    if ((s->stopping && !s->pausing) || !decision.restart || (spec->sidecar && is_settled(s)))
        return;
    state->last = state->end;
    state->end = (struct container_end){0};
    state->restarts++;
    state->next_start_ms = state->last.finished_ms + decision.delay_ms;
    if (decision.delay_ms)
        wait_for_restart(s, i, decision.delay_ms);
    else
        set_waiting(state, "ContainerCreating", "");
}

static void tell_start(struct supervisor *s, size_t i, const struct err *err)
{
    const struct pod_container *spec = &s->spec.containers[i];
    if (err)
        pod_state_tell(&s->state, spec->name, true, "Failed", "Error: %s", err->message);
    else if (spec->image)
        pod_state_tell(&s->state, spec->name, false, "Pulled",
                       "Container image \"%s\" already present on machine", spec->image);
}

static void start_container(struct supervisor *s, size_t i)
{
    struct err err = ERR_INIT;
    s->dirty = true;
    bool started = container_run_start(&s->runs[i], moment_wall_ms(), &err) == 0;
    tell_start(s, i, started ? NULL : &err);
    if (!started)
        decide_after_end(s, i);
}

/* Whether the next one in order may start: after an init container has succeeded, a sidecar has
 * started, the hook of a main one is through. */
static bool lets_others_start(const struct supervisor *s, size_t i)
{
    const struct container_state *state = &s->state.containers[i];
    if (s->spec.containers[i].sidecar)
        return state->started || is_past_init(s);
    if (s->spec.containers[i].init)
        return state->phase == CONTAINER_TERMINATED && state->end.exit_code == 0;
    return s->spec.containers[i].life.post_start.kind == HANDLER_NONE || !s->runs[i].pid ||
           s->lives[i].stage >= LIFE_RUNNING;
}

/* Start what is due; the wall time of the next attempt goes into *wake. True if the pod has come to
 * its end. */
static bool advance(struct supervisor *s, int64_t *wake)
{
    int64_t now = moment_wall_ms();
    bool ended = true, open = true, settled = is_settled(s);
    for (size_t i = 0; i < s->state.count; i++) {
        struct container_state *state = &s->state.containers[i];
        bool wanted = !s->stopping && !(settled && s->spec.containers[i].sidecar);
        if (open && wanted && state->phase == CONTAINER_WAITING && !s->runs[i].pid &&
            state->next_start_ms <= now)
            start_container(s, i);
        bool alive = s->runs[i].pid != 0;
        bool waits = open && wanted && state->phase == CONTAINER_WAITING;
        if (!alive && waits && state->next_start_ms < *wake)
            *wake = state->next_start_ms;
        if (alive || waits)
            ended = false;
        open = open && lets_others_start(s, i); /* else the rest waits, or will never run */
    }
    return ended;
}

static void end_all(struct supervisor *s, int64_t grace_ms)
{
    for (size_t i = 0; i < s->state.count; i++)
        life_end(&s->lives[i], grace_ms, moment_monotonic_ms());
}

/* The order how to end, and for the pod as a whole why. */
static struct pod_stop read_stop(struct supervisor *s)
{
    struct pod_stop stop = {.grace_ms = s->spec.grace_ms}; /* where none could be stored */
    pod_stop_load(s->directory, &stop);
    if (stop.reason[0] && !s->state.reason[0]) {
        str_copy(s->state.reason, sizeof(s->state.reason), stop.reason);
        str_copy(s->state.message, sizeof(s->state.message), stop.message);
        pod_state_tell(&s->state, NULL, true, stop.reason, "%s", stop.message);
        s->dirty = true;
    }
    return stop;
}

/* `told`: by control. Of a machine that goes down every process gets a SIGTERM. */
static void begin_stop(struct supervisor *s, bool told)
{
    struct pod_stop stop = read_stop(s);
    s->machine_ends = !told && (!s->stopping || s->machine_ends);
    s->stopping = true;
    s->deleted = stop.deleted;
    /* What was condemned does not come back. */
    s->pausing = (stop.pause || s->machine_ends) && !s->state.reason[0];
    end_all(s, stop.grace_ms);
}

/* As it was planned, or as it was changed since: the API lets it only come nearer. */
static void read_deadline(struct supervisor *s)
{
    int64_t changed;
    if (pod_deadline_load(s->directory, &changed, NULL) == 0 &&
        (!s->spec.deadline_ms || changed < s->spec.deadline_ms))
        s->spec.deadline_ms = changed;
}

/* The pod has had its time, counted by the clock on the wall as its owner counts it. */
static void mind_deadline(struct supervisor *s, int64_t *wake)
{
    if (!s->spec.deadline_ms || s->stopping)
        return;
    if (moment_wall_ms() < s->spec.deadline_ms) {
        if (s->spec.deadline_ms < *wake)
            *wake = s->spec.deadline_ms;
        return;
    }
    str_copy(s->state.reason, sizeof(s->state.reason), "DeadlineExceeded");
    str_copy(s->state.message, sizeof(s->state.message),
             "Pod was active on the node longer than the specified deadline");
    pod_state_tell(&s->state, NULL, false, s->state.reason, "%s", s->state.message);
    s->dirty = s->stopping = true;
    end_all(s, s->spec.grace_ms);
}

/* While the pod ends, a sidecar outlives what stands behind it. */
static void give_turns(struct supervisor *s, bool settled)
{
    bool others = false;
    for (size_t i = s->state.count; i-- > 0;) {
        if (!others || !(s->stopping || settled))
            life_take_turn(&s->lives[i], moment_monotonic_ms());
        others = others || s->runs[i].pid;
    }
}

/* Probes, hooks and ends; *wake is a monotonic time here. */
static void advance_lives(struct supervisor *s, int64_t *wake)
{
    int64_t now = moment_monotonic_ms();
    bool settled = is_settled(s);
    for (size_t i = 0; i < s->state.count; i++) {
        if (settled && s->spec.containers[i].sidecar && !life_is_ending(&s->lives[i]))
            life_end(&s->lives[i], s->spec.grace_ms, now);
        if (s->runs[i].pid)
            life_advance(&s->lives[i], now, wake);
    }
    give_turns(s, settled);
}

static void read_container(struct supervisor *s, size_t i)
{
    if (container_run_read(&s->runs[i]))
        life_begin(&s->lives[i], moment_monotonic_ms());
}

/* Nothing of a container outlives it; the children that are for the others do. */
static void clear_away(const struct supervisor *s, size_t ended)
{
    pid_t others[POD_CONTAINERS_MAX * (1 + LIFE_CHILDREN_MAX) + STEP_CALLS_MAX];
    size_t count = step_server_children(&s->server, &s->runs[ended], others);
    for (size_t i = 0; i < s->state.count; i++) {
        if (i == ended)
            continue;
        if (s->runs[i].pid)
            others[count++] = s->runs[i].pid;
        count += life_children(&s->lives[i], others + count);
    }
    step_world_container_ended(&s->spec, s->directory, s->spec.containers[ended].name, others,
                               count);
}

/* For which container a child worked that was no container's first process. One that nobody asks
 * about any more, an orphan or a try that took too long, is told by there being one container. */
static struct container_run *find_worked_for(struct supervisor *s, pid_t pid)
{
    struct container_run *only = step_server_run_of(&s->server, pid);
    size_t running = 0;
    if (only || pid == s->share.pid)
        return only;
    for (size_t i = 0; i < s->state.count; i++) {
        pid_t children[LIFE_CHILDREN_MAX];
        size_t count = life_children(&s->lives[i], children);
        if (s->runs[i].pid == pid)
            return NULL;
        while (count > 0)
            if (children[--count] == pid)
                return &s->runs[i];
        only = s->runs[i].pid ? &s->runs[i] : only;
        running += s->runs[i].pid != 0;
    }
    return running == 1 ? only : NULL;
}

static void reap(struct supervisor *s)
{
    int status;
    struct rusage used;
    for (pid_t pid; (pid = wait4(-1, &status, WNOHANG, &used)) > 0;) {
        struct container_run *worked_for = find_worked_for(s, pid);
        if (worked_for)
            container_run_spend(worked_for, &used);
        if (step_share_reaped(&s->share, pid) || step_server_reaped(&s->server, pid, status))
            continue;
        for (size_t i = 0; i < s->state.count; i++) {
            life_reaped(&s->lives[i], pid, status);
            if (s->runs[i].pid != pid)
                continue;
            clear_away(s, i);
            read_container(s, i); /* it may have run so shortly that nobody has heard of it */
            container_run_reaped(&s->runs[i], status, moment_wall_ms());
            step_server_run_ended(&s->server, &s->runs[i]);
            if (!s->runs[i].is_up)
                pod_state_tell(&s->state, s->state.containers[i].name, true, "Failed", "Error: %s",
                               s->state.containers[i].end.message);
            else if (!s->stopping)
                step_advice_tell(s->directory, &s->spec, i, &s->state);
            life_over(&s->lives[i]);
            decide_after_end(s, i);
        }
    }
}

static void handle_signals(struct supervisor *s)
{
    struct signalfd_siginfo info;
    while (read(s->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo == SIGTERM)
            begin_stop(s, pod_stop_is_told(info.ssi_code));
        else if (info.ssi_signo == SIGHUP)
            read_deadline(s);
        else if (info.ssi_signo == SIGCHLD)
            reap(s);
    }
}

/* In milliseconds, -1: for ever. */
static int64_t time_left(int64_t wake_wall, int64_t wake_monotonic)
{
    int64_t wall = wake_wall == INT64_MAX ? INT64_MAX : wake_wall - moment_wall_ms();
    int64_t steady =
        wake_monotonic == INT64_MAX ? INT64_MAX : wake_monotonic - moment_monotonic_ms();
    int64_t left = wall < steady ? wall : steady;
    if (left == INT64_MAX)
        return -1;
    /* At most a minute at once: the wall clock may be set. */
    return left < 0 ? 0 : left > 60000 ? 60000 : left;
}

static void wait_for_events(struct supervisor *s, int64_t wake_wall, int64_t wake_monotonic)
{
    struct pollfd polls[1 + POD_CONTAINERS_MAX * FDS_EACH + STEP_SERVER_POLLS_MAX] = {
        {.fd = s->signal_fd, .events = POLLIN}};
    nfds_t count = 1;
    for (size_t i = 0; i < s->state.count; i++) {
        const struct container_run *run = &s->runs[i];
        const int fds[] = {container_run_output(run, 0), container_run_output(run, 1),
                           /* its end comes by SIGCHLD; a closed pipe would wake forever */
                           run->has_report ? -1 : run->report_fd};
        for (size_t k = 0; k < ARRAY_SIZE(fds); k++)
            polls[count++] = (struct pollfd){.fd = fds[k], .events = POLLIN};
        life_polls(&s->lives[i], &polls[count]);
        count += LIFE_CHECKS;
    }
    count += step_server_poll(&s->server, polls + count);
    if (poll(polls, count, (int)time_left(wake_wall, wake_monotonic)) < 0)
        return; /* interrupted: look at everything again */
    for (size_t i = 0; i < s->state.count; i++) {
        const struct pollfd *own = &polls[1 + i * FDS_EACH];
        if (own[0].revents || own[1].revents || own[2].revents)
            read_container(s, i);
    }
    if (polls[0].revents)
        handle_signals(s);
    step_server_serve(&s->server, moment_wall_ms());
}

static bool is_waiting(const struct supervisor *s)
{
    for (size_t i = 0; i < s->state.count; i++)
        if (s->state.containers[i].phase == CONTAINER_WAITING)
            return true;
    return false;
}

static void supervise(struct supervisor *s)
{
    for (;;) {
        int64_t wake_wall = step_server_wake(&s->server), wake_monotonic = INT64_MAX;
        mind_deadline(s, &wake_wall);
        advance_lives(s, &wake_monotonic);
        bool ended = advance(s, &wake_wall);
        if (ended) {
            s->state.finished = !(s->pausing && is_waiting(s));
            s->dirty = true;
            step_limits_end_pod(&s->spec); /* before anybody hears of the end */
        }
        store_state(s, &wake_wall);
        if (ended && (!s->dirty || s->deleted)) {
            step_server_close(&s->server);
            return;
        }
        wait_for_events(s, wake_wall, wake_monotonic);
    }
}

/* Go on from where an earlier supervisor was: what it left running has died with it. */
static void restore_state(struct supervisor *s)
{
    _cleanup_pod_state_ struct pod_state earlier = {0};
    (void)pod_state_load(s->directory, &earlier, NULL);
    pod_state_inherit(&s->state, &earlier);
    /* The one before was about to end or to pause it, and may have been killed before it could say
     * so. */
    s->resumed = read_stop(s).pause;
    s->stopping = s->state.reason[0] != '\0';
    s->pausing = s->resumed && !s->stopping;
    for (size_t i = 0; i < s->spec.container_count; i++)
        pod_state_add(&s->state, s->spec.containers[i].name);
    for (size_t i = 0; i < s->state.count; i++) {
        const struct pod_container *spec = &s->spec.containers[i];
        struct container_state *state = &s->state.containers[i];
        const struct container_state *old = pod_state_find(&earlier, spec->name);
        if (old)
            *state = *old;
        else
            set_waiting(state, "ContainerCreating", "");
        str_copy(state->image, sizeof(state->image), spec->image ? spec->image : "");
        str_copy(state->image_id, sizeof(state->image_id), spec->image_id ? spec->image_id : "");
        container_run_init(&s->runs[i], s->directory, &s->spec, spec, state, &s->share);
        life_init(&s->lives[i], &s->runs[i], &s->state);
        state->started = state->ready = false;
        if (state->pid) { /* it was running, or about to */
            state->phase = CONTAINER_TERMINATED;
            state->pid = 0;
            state->end = (struct container_end){.known = true,
                                                .exit_code = 128 + SIGKILL,
                                                .signal = SIGKILL,
                                                .started_ms = state->started_ms,
                                                .finished_ms = moment_wall_ms()};
            str_copy(state->end.reason, sizeof(state->end.reason), "ContainerStatusUnknown");
            str_copy(state->end.message, sizeof(state->end.message),
                     "the pod's supervisor was killed and the container with it");
            decide_after_end(s, i);
        }
    }
    s->pausing = false;
    s->dirty = true;
}

static int make_directory(const char *directory, const char *name, struct err *err)
{
    _cleanup_free_ char *path = mem_printf("%s/%s", directory, name);
    return file_make_dirs(path, 0700, err);
}

static int load_spec(struct supervisor *s, struct arena *arena, struct err *err)
{
    int result = pod_spec_load(arena, s->directory, &s->spec, err);
    return result < 0 ? result : cgroup_trees_load(arena, s->directory, &s->spec.groups, err);
}

static int prepare(struct supervisor *s, struct arena *arena, struct err *err)
{
    _cleanup_free_ char *lock_path = mem_printf("%s/lock", s->directory);
    int lock, result;
    sigset_t handled;
    sigemptyset(&handled);
    sigaddset(&handled, SIGCHLD);
    sigaddset(&handled, SIGHUP);
    sigaddset(&handled, SIGTERM);
    sigprocmask(SIG_BLOCK, &handled, NULL);
    /* The mask first: whoever sees the lock may send SIGTERM at once. */
    if ((result = process_lock_take(lock_path, &lock, err)) < 0 ||
        (result = load_spec(s, arena, err)) < 0 ||
        (result = make_directory(s->directory, "logs", err)) < 0 ||
        (result = make_directory(s->directory, "messages", err)) < 0 ||
        (result = make_directory(s->directory, "root", err)) < 0 ||
        (result = make_directory(s->directory, "shm", err)) < 0)
        return result;
    s->spec.shm = s->spec.machine_ipc ? "/dev/shm" : arena_printf(arena, "%s/shm", s->directory);
    s->signal_fd = signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK);
    if (s->signal_fd < 0)
        return err_set_errno(err, errno, "cannot receive signals");
    restore_state(s);
    read_deadline(s);
    if (s->state.finished)
        return 0;
    if ((result = step_limits_begin_pod(&s->spec, err)) < 0 ||
        (result = step_world_enter(&s->spec, s->directory, err)) < 0)
        return result;
    return step_server_open(&s->server, s->directory, s->runs, s->state.count, err);
}

static int run_supervisor(const char *directory, int ready_fd)
{
    static struct supervisor supervisor; /* too large for the stack, and one a process */
    struct supervisor *s = &supervisor;
    struct err err = ERR_INIT;
    s->directory = directory;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    prctl(PR_SET_NAME, "trainyard-pod");
    umask(077);
    if (prepare(s, arena, &err) < 0) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    ssize_t told = write(ready_fd, "", 1);
    (void)told;
    close(ready_fd);
    if (!s->state.finished)
        supervise(s);
    return 0;
}

/* The starter waits only until the supervisor stands, so that the supervisor is nobody's child and
 * is watched in the same way before and after a restart of the control process. */
int step_pod(int argc, char **argv)
{
    struct err err = ERR_INIT;
    int ready[2];
    if (argc != 1 || argv[0][0] != '/') {
        fputs("usage: trainyard-step pod /DIRECTORY\n", stderr);
        return 2;
    }
    if (step_detach(&err) < 0) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    pid_t pid = pipe2(ready, O_CLOEXEC) < 0 ? -1 : fork();
    if (pid < 0) {
        fprintf(stderr, "cannot start the supervisor: %s\n", strerror(errno));
        return 1;
    }
    if (pid == 0) {
        close(ready[0]);
        if (setsid() < 0)
            return 1;
        return run_supervisor(argv[0], ready[1]);
    }
    close(ready[1]);
    char byte;
    return read(ready[0], &byte, 1) == 1 ? 0 : 1;
}
