/* Restarts the server after a crash; see server_supervisor.h. */
#include "cli/trainyard/server_supervisor.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/moment.h"
#include "cli/trainyard/server_restart.h"
#include "node/process/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STOP_MS = 15 * 1000, EXIT_FAILED = 1 };

int server_supervisor_find(const struct state_dir *state, int *ret_pidfd, pid_t *ret_pid,
                           struct err *err)
{
    return process_lock_holder(state->supervisor, ret_pidfd, ret_pid, err);
}

/* One run of the server. */
struct server_run {
    pid_t pid;
    int64_t started_ms;
    bool was_ready;      /* the server was ready at least once */
    bool stop_requested; /* the supervisor got a signal to stop */
    int status;          /* from waitpid() */
};

/* Waits for SIGCHLD, SIGTERM or SIGINT. Returns the number of the signal, or 0 after timeout_ms. A
 * negative timeout waits forever. */
static int await_signal(int64_t timeout_ms)
{
    const struct timespec timeout = {.tv_sec = timeout_ms / 1000,
                                     .tv_nsec = timeout_ms % 1000 * 1000000};
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGCHLD);
    sigaddset(&wanted, SIGTERM);
    sigaddset(&wanted, SIGINT);
    int got;
    do {
        got = timeout_ms < 0 ? sigwaitinfo(&wanted, NULL) : sigtimedwait(&wanted, NULL, &timeout);
    } while (got < 0 && errno == EINTR);
    return got < 0 ? 0 : got;
}

/* Blocks the signals that await_signal() waits for. *ret_old is the signal mask for servers. */
static void block_signals(sigset_t *ret_old)
{
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGCHLD);
    sigaddset(&blocked, SIGTERM);
    sigaddset(&blocked, SIGINT);
    /* A process that ignores SIGCHLD cannot wait for its children. The supervisor may have
     * inherited this from its parent. */
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_BLOCK, &blocked, ret_old);
}

/* Waits for the end of the server. Forwards a signal to stop, and kills the server if it does not
 * end within STOP_MS after the signal. */
static void await_server_end(struct server_run *run)
{
    int64_t deadline = -1;
    while (waitpid(run->pid, &run->status, WNOHANG) == 0) {
        int64_t left = deadline < 0 ? -1 : deadline - moment_monotonic_ms();
        int got = await_signal(deadline >= 0 && left < 0 ? 0 : left);
        if (got == SIGTERM || got == SIGINT) {
            run->stop_requested = true;
            kill(run->pid, SIGTERM);
            if (deadline < 0)
                deadline = moment_monotonic_ms() + STOP_MS;
        } else if (got == 0) {
            log_warning("server", "process %d did not stop in time: killing it", (int)run->pid);
            kill(run->pid, SIGKILL);
            deadline = -1;
        }
    }
}

/* Starts a server and waits for its end. */
static int run_server(const struct server_supervisor *supervisor, const sigset_t *mask, bool first,
                      struct server_run *ret, struct err *err)
{
    int alive[2];
    if (pipe2(alive, O_CLOEXEC | O_NONBLOCK) < 0)
        return err_set_errno(err, errno, "cannot make a pipe");
    *ret = (struct server_run){.started_ms = moment_monotonic_ms()};
    ret->pid = fork();
    if (ret->pid == 0) {
        sigprocmask(SIG_SETMASK, mask, NULL);
        close(alive[0]);
        _exit(supervisor->serve(supervisor->context, alive[1]));
    }
    int failure = errno;
    close(alive[1]);
    if (ret->pid < 0) {
        close(alive[0]);
        return err_set_errno(err, failure, "cannot start a process");
    }
    if (first)
        supervisor->started(supervisor->context);
    await_server_end(ret);
    char byte;
    ret->was_ready = read(alive[0], &byte, 1) == 1;
    close(alive[0]);
    return 0;
}

static void supervisor_save_restarts(const struct server_supervisor *supervisor,
                                     const struct state_restarts *restarts)
{
    struct err err = ERR_INIT;
    if (state_dir_write_restarts(supervisor->state, restarts, &err) < 0)
        log_warning("server", "%s", err.message);
}

/* Waits before the next start. Returns true if the supervisor got a signal to stop. */
static bool pause_before_restart(int64_t delay_ms)
{
    int64_t deadline = moment_monotonic_ms() + delay_ms;
    for (int64_t left = delay_ms; left > 0; left = deadline - moment_monotonic_ms()) {
        int got = await_signal(left);
        if (got == SIGTERM || got == SIGINT)
            return true;
    }
    return false;
}

static int exit_code(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int supervisor_run(const struct server_supervisor *supervisor, const sigset_t *mask)
{
    struct state_restarts restarts = {0};
    char cause[SERVER_CAUSE_MAX] = "", time[MOMENT_TEXT_MAX] = "";
    int crashes = 0;
    for (bool first = true;; first = false) {
        struct err err = ERR_INIT;
        struct server_run run;
        if (run_server(supervisor, mask, first, &run, &err) < 0) {
            log_error("server", "%s", err.message);
            run = (struct server_run){.started_ms = moment_monotonic_ms(),
                                      .status = W_EXITCODE(EXIT_FAILED, 0)};
        }
        int64_t delay_ms = 0;
        enum server_outcome outcome = server_restart_decide(
            run.status, moment_monotonic_ms() - run.started_ms, &crashes, &delay_ms);
        /* If the first server was never ready, `trainyard up` reports the failure, and a restart
         * would not help. */
        if (run.stop_requested || outcome == SERVER_STOPPED || (first && !run.was_ready))
            return run.stop_requested ? 0 : exit_code(run.status);
        server_restart_cause(run.status, cause);
        moment_format(moment_wall_ms(), time);
        (void)unlink(supervisor->state->server); /* the file names a process that has ended */
        restarts.cause = cause;
        restarts.time = time;
        restarts.gave_up = outcome == SERVER_GIVEN_UP;
        restarts.waiting = outcome == SERVER_RESTARTS;
        supervisor_save_restarts(supervisor, &restarts);
        if (restarts.gave_up) {
            log_error("server",
                      "ended %d times in a row, the last time with %s: not starting it again; the "
                      "pods keep running, and 'trainyard up' starts the server",
                      crashes, cause);
            return EXIT_FAILED;
        }
        if (run.pid > 0)
            log_warning("server", "process %d ended with %s: starting it again in %.1f s",
                        (int)run.pid, cause, (double)delay_ms / 1000);
        else
            log_warning("server", "did not start: trying again in %.1f s", (double)delay_ms / 1000);
        if (pause_before_restart(delay_ms))
            return 0;
        restarts.count++;
        restarts.waiting = false;
        supervisor_save_restarts(supervisor, &restarts);
    }
}

int server_supervisor_run(const struct server_supervisor *supervisor)
{
    _cleanup_fd_ int lock = -1;
    struct err err = ERR_INIT;
    sigset_t mask;
    block_signals(&mask);
    if (process_lock_take(supervisor->state->supervisor, &lock, &err) < 0) {
        log_error("server", "%s", err.message);
        return EXIT_FAILED;
    }
    return supervisor_run(supervisor, &mask);
}
