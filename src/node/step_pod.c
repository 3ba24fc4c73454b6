/* The supervisor of one pod. It owns the pod's network, IPC and UTS namespaces by living in them,
 * starts its containers in order, decides their restarts by the pod's policy, keeps their logs, and
 * writes each change into <pod directory>/state. It needs nobody while it runs: the control process
 * may die and return. It is told one thing only: SIGTERM, to end the pod as
 * <pod directory>/stop says. Killed itself, it takes the containers along, and the next supervisor
 * of the pod goes on from the state. */
#include "node/step_container.h"

#include "node/process_lock.h"
#include "node/step_limits.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"

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

enum { GRACE_DEFAULT_MS = 30 * 1000, STORE_AGAIN_MS = 1000, FDS_EACH = 3 };

struct supervisor {
    const char *directory;
    struct pod_spec spec;
    struct pod_state state;
    struct container_run runs[POD_CONTAINERS_MAX];
    int signal_fd;
    bool dirty;         /* the state must be written */
    bool stopping;      /* nothing is started any more */
    bool pausing;       /* … by us; the next supervisor goes on */
    int64_t kill_at_ms; /* while stopping: wall time when patience ends */
};

/* What cannot be written now, because the disk is full or there are no descriptors, is written
 * later: then `wake` is brought forward. Only of a pod whose directory is gone nobody wants to
 * know. */
static void store_state(struct supervisor *s, int64_t *wake)
{
    struct err err = ERR_INIT;
    if (s->dirty && pod_state_store(s->directory, &s->state, &err) < 0 &&
        err.code != ERR_NOT_FOUND) {
        int64_t again = moment_wall_ms() + STORE_AGAIN_MS;
        *wake = again < *wake ? again : *wake;
        return;
    }
    s->dirty = false;
}

static void set_waiting(struct container_state *state, const char *reason, const char *message)
{
    state->phase = CONTAINER_WAITING;
    str_copy(state->reason, sizeof(state->reason), reason);
    str_copy(state->message, sizeof(state->message), message);
}

/* A run has ended and is in state->end: what next? */
static void decide_after_end(struct supervisor *s, size_t i)
{
    struct container_state *state = &s->state.containers[i];
    const struct pod_container *spec = &s->spec.containers[i];
    s->dirty = true;
    struct restart_decision decision =
        restart_decide(s->spec.restart, spec->init, state->end.exit_code, state->level,
                       state->end.finished_ms - state->end.started_ms);
    if (s->pausing) {
        /* That it ended is our doing: unless it was done, it runs again, at once and blameless. */
        decision.restart = decision.restart || state->end.exit_code != 0;
        decision.delay_ms = 0;
        decision.level = state->level;
    }
    state->level = decision.level;
    if ((s->stopping && !s->pausing) || !decision.restart)
        return;
    char message[POD_MESSAGE_MAX];
    snprintf(message, sizeof(message), "back-off %llds restarting failed container=%s",
             (long long)decision.delay_ms / 1000, spec->name);
    state->last = state->end;
    state->end = (struct container_end){0};
    state->restarts++;
    state->next_start_ms = state->last.finished_ms + decision.delay_ms;
    set_waiting(state, decision.delay_ms ? "CrashLoopBackOff" : "ContainerCreating",
                decision.delay_ms ? message : "");
}

static void start_container(struct supervisor *s, size_t i)
{
    struct err err = ERR_INIT;
    s->dirty = true;
    if (container_run_start(&s->runs[i], moment_wall_ms(), &err) < 0)
        decide_after_end(s, i);
}

/* Start what is due; the wall time of the next attempt goes into *wake. True if the pod has come to
 * its end. */
static bool advance(struct supervisor *s, int64_t *wake)
{
    int64_t now = moment_wall_ms();
    bool ended = true;
    for (size_t i = 0; i < s->state.count; i++) {
        struct container_state *state = &s->state.containers[i];
        if (state->phase == CONTAINER_WAITING && !s->runs[i].pid && !s->stopping &&
            state->next_start_ms <= now)
            start_container(s, i);
        bool alive = s->runs[i].pid != 0;
        bool waits = state->phase == CONTAINER_WAITING && !s->stopping;
        if (!alive && waits && state->next_start_ms < *wake)
            *wake = state->next_start_ms;
        if (alive || waits)
            ended = false;
        bool succeeded = state->phase == CONTAINER_TERMINATED && state->end.exit_code == 0;
        if (s->spec.containers[i].init && !succeeded)
            return ended; /* the rest waits for it, or will never run */
    }
    return ended;
}

static void signal_all(struct supervisor *s, int number)
{
    for (size_t i = 0; i < s->state.count; i++)
        if (s->runs[i].pid)
            kill(s->runs[i].pid, number);
}

static void begin_stop(struct supervisor *s)
{
    struct pod_stop stop = {.grace_ms = GRACE_DEFAULT_MS};
    (void)pod_stop_load(s->directory, &stop, NULL);
    int64_t kill_at = moment_wall_ms() + stop.grace_ms;
    if (!s->stopping || kill_at < s->kill_at_ms)
        s->kill_at_ms = kill_at;
    s->stopping = true;
    s->pausing = stop.pause;
    signal_all(s, SIGTERM);
}

static void reap(struct supervisor *s)
{
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        for (size_t i = 0; i < s->state.count; i++) {
            if (s->runs[i].pid != pid)
                continue;
            container_run_reaped(&s->runs[i], status, moment_wall_ms());
            decide_after_end(s, i);
        }
    }
}

static void handle_signals(struct supervisor *s)
{
    struct signalfd_siginfo info;
    while (read(s->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo == SIGTERM)
            begin_stop(s);
        else if (info.ssi_signo == SIGCHLD)
            reap(s);
    }
}

static void wait_for_events(struct supervisor *s, int64_t wake)
{
    struct pollfd polls[1 + POD_CONTAINERS_MAX * FDS_EACH] = {
        {.fd = s->signal_fd, .events = POLLIN}};
    nfds_t count = 1;
    for (size_t i = 0; i < s->state.count; i++) {
        const struct container_run *run = &s->runs[i];
        const int fds[FDS_EACH] = {run->output_fds[0], run->output_fds[1],
                                   /* its end comes by SIGCHLD; a closed pipe would wake forever */
                                   run->has_report ? -1 : run->report_fd};
        for (int k = 0; k < FDS_EACH; k++)
            polls[count++] = (struct pollfd){.fd = fds[k], .events = POLLIN};
    }
    int64_t timeout = -1;
    if (wake != INT64_MAX) {
        timeout = wake - moment_wall_ms();
        /* At most a minute at once: the wall clock may be set. */
        timeout = timeout < 0 ? 0 : timeout > 60000 ? 60000 : timeout;
    }
    if (poll(polls, count, (int)timeout) < 0)
        return; /* interrupted: look at everything again */
    for (size_t i = 0; i < s->state.count; i++) {
        const struct pollfd *own = &polls[1 + i * FDS_EACH];
        if ((own[0].revents || own[1].revents || own[2].revents) && container_run_read(&s->runs[i]))
            s->dirty = true;
    }
    if (polls[0].revents)
        handle_signals(s);
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
        int64_t wake = INT64_MAX;
        bool ended = advance(s, &wake);
        if (s->stopping && !ended) {
            if (moment_wall_ms() >= s->kill_at_ms)
                signal_all(s, SIGKILL);
            else if (s->kill_at_ms < wake)
                wake = s->kill_at_ms;
        }
        if (ended) {
            s->state.finished = !(s->pausing && is_waiting(s));
            s->dirty = true;
            step_limits_end_pod(&s->spec); /* before anybody hears of the end */
        }
        store_state(s, &wake);
        if (ended && !s->dirty)
            return;
        wait_for_events(s, wake);
    }
}

/* Go on from where an earlier supervisor was: what it left running has died with it. */
static void restore_state(struct supervisor *s)
{
    _cleanup_pod_state_ struct pod_state earlier = {0};
    (void)pod_state_load(s->directory, &earlier, NULL);
    s->state.finished = earlier.finished;
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
        if (spec->image_id)
            str_copy(state->image_id, sizeof(state->image_id), spec->image_id);
        container_run_init(&s->runs[i], s->directory, &s->spec, spec, state);
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
    s->dirty = true;
}

static int make_directory(const char *directory, const char *name, struct err *err)
{
    _cleanup_free_ char *path = mem_printf("%s/%s", directory, name);
    return file_make_dirs(path, 0700, err);
}

static int load_spec(struct supervisor *s, struct arena *arena, struct err *err)
{
    _cleanup_free_ char *path = mem_printf("%s/spec", s->directory);
    _cleanup_buf_ struct buf text;
    buf_init(&text, POD_SPEC_MAX);
    int result = file_read(path, &text, err);
    if (result < 0)
        return result;
    size_t size = text.size;
    if (pod_spec_parse(arena, arena_strndup(arena, text.data, size), size, &s->spec, err) < 0)
        return err_wrap(err, "'%s'", path);
    return cgroup_trees_load(arena, s->directory, &s->spec.groups, err);
}

static int prepare(struct supervisor *s, struct arena *arena, struct err *err)
{
    _cleanup_free_ char *lock_path = mem_printf("%s/lock", s->directory);
    int lock, result;
    sigset_t handled;
    sigemptyset(&handled);
    sigaddset(&handled, SIGCHLD);
    sigaddset(&handled, SIGTERM);
    sigprocmask(SIG_BLOCK, &handled, NULL);
    /* The mask first: whoever sees the lock may send SIGTERM at once. */
    if ((result = process_lock_take(lock_path, &lock, err)) < 0 ||
        (result = load_spec(s, arena, err)) < 0 ||
        (result = make_directory(s->directory, "logs", err)) < 0 ||
        (result = make_directory(s->directory, "messages", err)) < 0 ||
        (result = make_directory(s->directory, "root", err)) < 0)
        return result;
    s->signal_fd = signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK);
    if (s->signal_fd < 0)
        return err_set_errno(err, errno, "cannot receive signals");
    restore_state(s);
    if (s->state.finished)
        return 0;
    if ((result = step_limits_begin_pod(&s->spec, err)) < 0 ||
        (result = step_network_enter(&s->spec, err)) < 0 ||
        (result = step_sysctls_set(&s->spec, err)) < 0)
        return result;
    return step_memory_mount(&s->spec, err);
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
