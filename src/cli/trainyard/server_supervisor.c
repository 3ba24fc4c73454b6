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
struct server_life {
    pid_t pid;
    int64_t started_ms;
    bool answered; /* the server was ready at least once */
    bool asked;    /* the supervisor got a signal to stop */
    int status;    /* from waitpid() */
};

/* Waits for a signal to the supervisor. Returns its number, or 0 after timeout_ms. A negative
 * timeout waits forever. */
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
 * end in time. */
static void await_server_end(struct server_life *life)
{
    int64_t deadline = -1;
    while (waitpid(life->pid, &life->status, WNOHANG) == 0) {
        int64_t left = deadline < 0 ? -1 : deadline - moment_monotonic_ms();
        int got = await_signal(deadline >= 0 && left < 0 ? 0 : left);
        if (got == SIGTERM || got == SIGINT) {
            life->asked = true;
            kill(life->pid, SIGTERM);
            if (deadline < 0)
                deadline = moment_monotonic_ms() + STOP_MS;
        } else if (got == 0) {
            log_warning("server", "process %d does not end: killing it", (int)life->pid);
            kill(life->pid, SIGKILL);
            deadline = -1;
        }
    }
}

static int run_server(const struct server_supervisor *supervisor, const sigset_t *mask, bool first,
                      struct server_life *ret, struct err *err)
{
    int alive[2];
    if (pipe2(alive, O_CLOEXEC | O_NONBLOCK) < 0)
        return err_set_errno(err, errno, "cannot make a pipe");
    *ret = (struct server_life){.started_ms = moment_monotonic_ms()};
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
    ret->answered = read(alive[0], &byte, 1) == 1;
    close(alive[0]);
    return 0;
}

static void supervisor_note(const struct server_supervisor *supervisor,
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
        struct server_life life;
        if (run_server(supervisor, mask, first, &life, &err) < 0) {
            log_error("server", "%s", err.message);
            life = (struct server_life){.started_ms = moment_monotonic_ms(),
                                        .status = W_EXITCODE(EXIT_FAILED, 0)};
        }
        int64_t delay_ms = 0;
        enum server_outcome fate = server_restart_decide(
            life.status, moment_monotonic_ms() - life.started_ms, &crashes, &delay_ms);
        /* If the first server has never answered, it has already sent the reason to `up`, and a
         * restart would not help. */
        if (life.asked || fate == SERVER_STOPPED || (first && !life.answered))
            return life.asked ? 0 : exit_code(life.status);
        server_restart_cause(life.status, cause);
        moment_format(moment_wall_ms(), time);
        (void)unlink(supervisor->state->server); /* the file names a process that has ended */
        restarts.cause = cause;
        restarts.time = time;
        restarts.gave_up = fate == SERVER_GIVEN_UP;
        restarts.waiting = fate == SERVER_RESTARTS;
        supervisor_note(supervisor, &restarts);
        if (restarts.gave_up) {
            log_error("server",
                      "ended with %s, the %dth time in a row: not starting it again; the pods go "
                      "on, 'trainyard up' starts it",
                      cause, crashes);
            return EXIT_FAILED;
        }
        log_warning("server", "process %d ended with %s: starting it again in %.1f s",
                    (int)life.pid, cause, (double)delay_ms / 1000);
        if (pause_before_restart(delay_ms))
            return 0;
        restarts.count++;
        restarts.waiting = false;
        supervisor_note(supervisor, &restarts);
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
