/* Runs a command inside a running sandbox; see step/exec.h.
 *
 * setns() with a PID namespace only affects children that are created later, and an ordinary user's
 * process cannot undo it. So the supervisor forks an intermediate process, which calls setns() and
 * then creates the command with CLONE_PARENT as the supervisor's child. The command then joins the
 * sandbox's mount namespace and, if there is one, its user namespace; it shares the other
 * namespaces with the supervisor. In a pod without namespaces the supervisor forks the command
 * directly.
 *
 * Processes in the sandbox see the command's process before its execve(). They must not be able to
 * inspect it then: through /proc/PID/fd and /proc/PID/exe they would reach files of the machine. So
 * the process is not dumpable (PR_SET_DUMPABLE) until execve(). */
#include "node/step/exec.h"

#include "node/process/fd_message.h"
#include "node/step/command.h"
#include "node/step/sandbox/isolation.h"
#include "node/step/sandbox/limits.h"

#include "base/mem.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REPORT_FD = 3, SANDBOX_FD = 4, CAPTURE_READ = 16 * 1024 };

/* ---- in the child ---------------------------------------------------------------------------- */

/* Sends one message to the supervisor: the reason of a failure or ERR_INIT, and the terminal's
 * master unless `master` is -1. */
static void exec_send_report(const struct err *failure, int master)
{
    (void)fd_message_send(REPORT_FD, failure, sizeof(*failure), &master, master >= 0, NULL);
}

static void exec_give_up(const struct err *failure) __attribute__((noreturn));
static void exec_give_up(const struct err *failure)
{
    exec_send_report(failure, -1);
    _exit(failure->code == ERR_NOT_FOUND ? STEP_EXEC_NOT_FOUND : STEP_EXEC_NOT_RUNNABLE);
}

/* Moves each descriptor to its fixed number and closes all others that the child has inherited. */
static int keep_descriptors(const int fds[3], int report_fd, int sandbox_fd)
{
    const int wanted[] = {fds[0], fds[1], fds[2], report_fd, sandbox_fd};
    int high[ARRAY_SIZE(wanted)];
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0)
        return -1;
    for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) /* first, a copy above the fixed numbers */
        if ((high[i] = fcntl(wanted[i] < 0 ? null : wanted[i], F_DUPFD_CLOEXEC, 10)) < 0)
            return -1;
    for (int i = 0; i < (int)ARRAY_SIZE(wanted); i++)
        if (dup3(high[i], i, i > STDERR_FILENO ? O_CLOEXEC : 0) < 0)
            return -1;
    return close_range(SANDBOX_FD + 1, ~0U, 0);
}

static int become_terminal(struct err *err)
{
    int master;
    int result = step_terminal_take(&master, err);
    if (result < 0)
        return result;
    exec_send_report(&ERR_INIT, master);
    close(master);
    return 0;
}

/* Makes tar ignore the owners of files. `kubectl cp` runs tar as the container's root, and tar then
 * restores the owner of each file. An ordinary user's container has only one user, so tar would
 * fail for every file. */
static void prepare_tar(const struct container_run *run, const struct step_exec_options *options)
{
    if (run->pod->nested && str_eq(options->arguments[0], "tar"))
        setenv("TAR_OPTIONS", "--no-same-owner", 0);
}

static int exec_enter_container(const struct container_run *run, struct err *err)
{
    const struct pod_spec *pod = run->pod;
    int result = step_limits_enter(pod, run->spec, err); /* the machine's files are still visible */
    if (result < 0)
        return result;
    step_pipes_give(pod, run->spec);
    return step_isolation_join(pod, run->spec, SANDBOX_FD, err);
}

static void exec_run_command(const struct container_run *run,
                             const struct step_exec_options *options, const int fds[3],
                             int report_fd, int sandbox_fd) __attribute__((noreturn));
static void exec_run_command(const struct container_run *run,
                             const struct step_exec_options *options, const int fds[3],
                             int report_fd, int sandbox_fd)
{
    struct err err = ERR_INIT;
    const char *directory = run->spec->directory ? run->spec->directory : "/";
    step_signals_default();
    umask(022);
    setsid();
    if (keep_descriptors(fds, report_fd, sandbox_fd) < 0) {
        err_set_errno(&err, errno, "cannot pass descriptors to the command");
        dup2(report_fd, REPORT_FD); /* where exec_give_up() writes */
        exec_give_up(&err);
    }
    environ = (char **)run->spec->environment.items;
    prepare_tar(run, options);
    if (exec_enter_container(run, &err) < 0 || (options->terminal && become_terminal(&err) < 0))
        exec_give_up(&err);
    if (chdir(directory) < 0) {
        err_set_errno(&err, errno, "cannot change to working directory '%s'", directory);
        err.code = ERR_IO; /* not ERR_NOT_FOUND, which means a missing command */
        exec_give_up(&err);
    }
    step_command_become(options->arguments, &err);
    exec_give_up(&err);
}

/* ---- in the supervisor ----------------------------------------------------------------------- */

/* Runs in the intermediate process. Returns only in the command's process. */
static void exec_clone_sibling(int sandbox_fd, int pipe_fd)
{
    long pid = -1;
    prctl(PR_SET_DUMPABLE, 0);
    if (setns(sandbox_fd, CLONE_NEWPID) < 0 ||
        (pid = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL)) < 0)
        pid = -errno;
    if (pid == 0)
        return;
    _exit(write(pipe_fd, &pid, sizeof(pid)) == (ssize_t)sizeof(pid) ? 0 : 1);
}

pid_t step_fork_inside(int sandbox_fd)
{
    int pipe_fds[2];
    if (pipe2(pipe_fds, O_CLOEXEC) < 0)
        return -1;
    pid_t intermediate = fork();
    if (intermediate == 0) {
        exec_clone_sibling(sandbox_fd, pipe_fds[1]);
        return 0;
    }
    int why = errno;
    long pid = -EIO;
    close(pipe_fds[1]);
    if (intermediate > 0) {
        while (read(pipe_fds[0], &pid, sizeof(pid)) < 0 && errno == EINTR)
            ;
        while (waitpid(intermediate, NULL, 0) < 0 && errno == EINTR)
            ;
        why = pid < 0 ? (int)-pid : 0;
    }
    close(pipe_fds[0]);
    errno = why;
    return intermediate > 0 && pid > 0 ? (pid_t)pid : -1;
}

static int exec_start_process(struct step_exec *exec, const struct container_run *run,
                              const struct step_exec_options *options, const int fds[3],
                              struct err *err)
{
    int pair[2];
    _cleanup_fd_ int sandbox = pidfd_open(run->pid, 0);
    if (sandbox < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return err_set_errno(err, errno, "cannot reach the container");
    pid_t pid = run->pod->plain ? fork() : step_fork_inside(sandbox);
    if (pid == 0)
        exec_run_command(run, options, fds, pair[1], sandbox);
    int why = errno;
    close(pair[1]);
    exec->report_fd = pair[0];
    if (pid < 0)
        return err_set_errno(err, why, "cannot enter the container");
    exec->pid = pid;
    return 0;
}

int step_exec_start(struct step_exec *exec, const struct container_run *run,
                    const struct step_exec_options *options, struct err *err)
{
    *exec = STEP_EXEC_INIT;
    buf_init(&exec->output, options->captured);
    if (!run->pid || !run->is_up)
        return err_set(err, ERR_UNAVAILABLE, "container '%s' is not running", run->spec->name);
    int fds[3] = {options->fds[0], options->fds[1], options->fds[2]};
    int capture[2] = {-1, -1};
    if (options->captured) {
        if (pipe2(capture, O_CLOEXEC) < 0)
            return err_set_errno(err, errno, "cannot make a pipe");
        fcntl(capture[0], F_SETFL, O_NONBLOCK);
        exec->output_fd = capture[0];
        fds[1] = fds[2] = capture[1];
    }
    int result = exec_start_process(exec, run, options, fds, err);
    if (capture[1] >= 0)
        close(capture[1]);
    if (result < 0)
        step_exec_release(exec);
    return result;
}

/* Receives one message of the child. Returns false if no message is available. *ret_ended becomes
 * true if no further message will come. */
static bool receive_report(struct step_exec *exec, bool *ret_ended)
{
    struct err failure;
    int fds[FD_MESSAGE_FDS_MAX];
    ssize_t got = fd_message_receive(exec->report_fd, &failure, sizeof(failure), fds);
    *ret_ended = got == FD_MESSAGE_ENDED;
    if (got != (ssize_t)sizeof(failure))
        return false;
    if (fds[0] >= 0)
        exec->terminal_fd = fds[0];
    if (failure.code != ERR_NONE)
        exec->failure = failure;
    return true;
}

int step_exec_has_started(struct step_exec *exec, struct err *err)
{
    bool ended = exec->report_fd < 0;
    while (!ended && receive_report(exec, &ended))
        ;
    if (exec->failure.code != ERR_NONE)
        return err_set(err, exec->failure.code, "%s", exec->failure.message);
    if (!ended)
        return 0;
    if (exec->report_fd >= 0)
        close(TAKE_FD(exec->report_fd));
    return 1;
}

void step_exec_read(struct step_exec *exec)
{
    char data[CAPTURE_READ];
    while (exec->output_fd >= 0) {
        ssize_t got = read(exec->output_fd, data, sizeof(data));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return;
        if (got <= 0) {
            close(TAKE_FD(exec->output_fd));
            return;
        }
        size_t room = exec->output.max - exec->output.size;
        buf_append(&exec->output, data, (size_t)got < room ? (size_t)got : room);
    }
}

void step_exec_signal(const struct step_exec *exec, int number)
{
    /* The command leads a process group, except for a moment after its start. */
    if (exec->pid && kill(-exec->pid, number) < 0)
        kill(exec->pid, number);
}

bool step_exec_reaped(struct step_exec *exec, pid_t pid, int wait_status, struct step_exec_end *ret)
{
    if (!exec->pid || exec->pid != pid)
        return false;
    exec->pid = 0;
    *ret = (struct step_exec_end){0};
    if (WIFSIGNALED(wait_status)) {
        ret->signal = WTERMSIG(wait_status);
        ret->exit_code = 128 + ret->signal;
    } else {
        ret->exit_code = WEXITSTATUS(wait_status);
    }
    struct err err;
    if (step_exec_has_started(exec, &err) < 0)
        str_copy(ret->message, sizeof(ret->message), err.message);
    /* All output of the command is in the pipe. Do not wait for the end of the file: a process that
     * the command left behind may still have the write end open. */
    step_exec_read(exec);
    if (exec->output_fd >= 0)
        close(TAKE_FD(exec->output_fd));
    return true;
}

void step_exec_release(struct step_exec *exec)
{
    step_exec_signal(exec, SIGKILL);
    exec->pid = 0;
    int *const fds[] = {&exec->report_fd, &exec->output_fd, &exec->terminal_fd};
    for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
        if (*fds[i] >= 0)
            close(TAKE_FD(*fds[i]));
    buf_release(&exec->output);
}
