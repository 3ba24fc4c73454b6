/* Implements step_init_run(), the first process of a sandbox. This process builds the sandbox,
 * starts the command, forwards signals, reaps orphans, and ends with the command. If the sandbox
 * has a PID namespace of its own, the first process is PID 1, and the kernel kills all other
 * processes of the sandbox when it ends. Because the command itself is not PID 1, SIGTERM ends a
 * command that has no handler for it. The only descriptors from outside that the first process
 * keeps are those of struct step_descriptors. */
#include "node/step/step.h"

#include "node/process/fd_message.h"

#include "node/step/command.h"
#include "node/step/sandbox/isolation.h"
#include "node/step/sandbox/limits.h"
#include "node/step/sandbox/share.h"

#include "base/mem.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REPORT_FD = 3 };

static void init_send_report(const struct step_report *message)
{
    ssize_t written;
    do {
        written = write(REPORT_FD, message, sizeof(*message));
    } while (written < 0 && errno == EINTR);
}

static void init_fail(const struct err *err) __attribute__((noreturn));
static void init_fail(const struct err *err)
{
    struct step_report message = {.kind = STEP_FAILED};
    str_copy(message.message, sizeof(message.message), err->message);
    init_send_report(&message);
    _exit(1);
}

/* Moves the descriptors to fixed numbers and closes all others, so that the container cannot leave
 * the sandbox through descriptors of its first process. */
static int keep_descriptors(const struct step_descriptors *descriptors)
{
    const int wanted[] = {descriptors->in, descriptors->out, descriptors->err, descriptors->report};
    int high[ARRAY_SIZE(wanted)];
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0)
        return -1;
    for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) /* first, a copy above the fixed numbers */
        if ((high[i] = fcntl(wanted[i] < 0 ? null : wanted[i], F_DUPFD_CLOEXEC, 10)) < 0)
            return -1;
    for (int i = 0; i < (int)ARRAY_SIZE(wanted); i++)
        if (dup3(high[i], i, i == REPORT_FD ? O_CLOEXEC : 0) < 0)
            return -1;
    return close_range(REPORT_FD + 1, ~0U, 0);
}

/* Sends the supervisor the container's mount namespace. Must be called before the command starts:
 * the supervisor uses the namespace to find the processes that the command leaves behind. */
static int send_mark(struct err *err)
{
    const struct step_report message = {.kind = STEP_MARK};
    int mark = step_share_mark();
    if (mark < 0)
        return err_set_errno(err, errno, "cannot open the container's mount namespace");
    int result = fd_message_send(REPORT_FD, &message, sizeof(message), &mark, 1, err);
    close(mark);
    return result;
}

static int take_terminal(struct err *err)
{
    const struct step_report message = {.kind = STEP_TERMINAL};
    int master;
    int result = step_terminal_take(&master, err);
    if (result < 0)
        return result;
    result = fd_message_send(REPORT_FD, &message, sizeof(message), &master, 1, err);
    close(master);
    return result;
}

/* Explains E2BIG. The kernel limits the size of each argument and variable, and their sum.
 * TF_CONFIG of a very large job exceeds the first limit. */
static void explain_too_long(const struct pod_container *container, struct err *err)
{
    const long word_max = 32 * sysconf(_SC_PAGESIZE); /* MAX_ARG_STRLEN */
    const struct pod_strings *lists[] = {&container->arguments, &container->environment};
    const char *longest = "";
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
        for (size_t k = 0; k < lists[i]->count; k++)
            if (strlen(lists[i]->items[k]) > strlen(longest))
                longest = lists[i]->items[k];
    const char *equals = strchr(longest, '=');
    int shown = equals && equals - longest < 64 ? (int)(equals - longest) : 16;
    if ((long)strlen(longest) >= word_max)
        err_set(err, ERR_TOO_LARGE,
                "cannot run '%s': '%.*s' has %zu bytes, but the limit for one argument or variable "
                "is %ld",
                container->arguments.items[0], shown, longest, strlen(longest) + 1, word_max);
    else
        err_set_errno(err, E2BIG, "cannot run '%s' with so many arguments and variables",
                      container->arguments.items[0]);
}

/* Explains a missing program: the image may lack it, or it may be in a directory that pods do not
 * see. */
static void explain_missing(const struct pod_spec *spec, const struct pod_container *container,
                            struct err *err)
{
    static const char *const HIDDEN[] = {"/tmp/", "/var/tmp/", "/run/", "/root/"};
    const char *program = container->arguments.items[0], *place = program, *advice = "";
    if (strchr(program, '/') && access(program, F_OK) == 0)
        return; /* the program exists, so another file is missing */
    if (strchr(program, '/') && program[0] != '/' && container->directory)
        place = container->directory;
    if (container->root)
        advice = " in the image";
    for (size_t i = 0; !spec->plain && !container->root && i < ARRAY_SIZE(HIDDEN); i++)
        if (!advice[0] && str_has_prefix(place, HIDDEN[i]))
            advice = ": pods do not see this directory of the machine; keep the program in your "
                     "home or in /opt, or share its directory with 'trainyard up --share DIR'";
    strncat(err->message, advice, sizeof(err->message) - strlen(err->message) - 1);
}

/* Runs in the child: executes the command, or sends the reason of the failure through the pipe. */
static void init_run_command(const struct pod_spec *spec, const struct pod_container *container,
                             int error_fd) __attribute__((noreturn));
static void init_run_command(const struct pod_spec *spec, const struct pod_container *container,
                             int error_fd)
{
    struct err err = ERR_INIT;
    step_signals_default();
    umask(022);
    setsid();
    environ = (char **)container->environment.items;
    const char *const *arguments = container->arguments.items;
    if (container->terminal && take_terminal(&err) < 0) {
        err_wrap(&err, "cannot run '%s'", arguments[0]);
    } else if (container->directory && chdir(container->directory) < 0) {
        err_set_errno(&err, errno, "cannot change to working directory '%s'", container->directory);
    } else {
        step_command_become(arguments, &err);
        if (err.sys == E2BIG)
            explain_too_long(container, &err);
        else if (err.sys == ENOENT)
            explain_missing(spec, container, &err);
    }
    ssize_t written = write(error_fd, &err, sizeof(err));
    (void)written;
    _exit(127);
}

static pid_t start_command(const struct pod_spec *spec, const struct pod_container *container)
{
    struct err err = ERR_INIT;
    int error_pipe[2];
    pid_t pid = -1;
    if (pipe2(error_pipe, O_CLOEXEC) < 0 || (pid = fork()) < 0) {
        err_set_errno(&err, errno, "cannot start '%s'", container->arguments.items[0]);
        init_fail(&err);
    }
    if (pid == 0)
        init_run_command(spec, container, error_pipe[1]);
    close(error_pipe[1]);
    ssize_t got;
    do {
        got = read(error_pipe[0], &err, sizeof(err));
    } while (got < 0 && errno == EINTR);
    close(error_pipe[0]);
    if (got == (ssize_t)sizeof(err))
        init_fail(&err);
    return pid; /* end of file: execve() has succeeded */
}

static void report_exit(int status, bool got_sigterm) __attribute__((noreturn));
static void report_exit(int status, bool got_sigterm)
{
    struct step_report message = {.kind = STEP_EXITED, .got_sigterm = got_sigterm};
    if (WIFSIGNALED(status)) {
        message.signal = WTERMSIG(status);
        message.exit_code = 128 + message.signal;
    } else {
        message.exit_code = WEXITSTATUS(status);
    }
    init_send_report(&message);
    _exit(0);
}

/* Reaps exited children. If the command is one of them, ends the sandbox and does not return. */
static void init_reap_children(const struct pod_spec *spec, pid_t command, bool got_sigterm)
{
    int status;
    for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG)) > 0;)
        if (ended == command) {
            step_isolation_end(spec);
            report_exit(status, got_sigterm);
        }
}

/* Makes the sandbox end with the supervisor. The kernel clears PR_SET_PDEATHSIG when privileges
 * change, so it is set after that. If the supervisor died before that, its end of the report socket
 * is closed, and this process exits. */
static void bind_to_supervisor(const struct pod_spec *spec)
{
    prctl(PR_SET_PDEATHSIG, step_isolation_orphan_signal(spec));
    struct pollfd report = {.fd = REPORT_FD};
    if (poll(&report, 1, 0) > 0 && report.revents & (POLLERR | POLLHUP))
        _exit(1);
}

void step_init_run(const struct pod_spec *spec, const struct pod_container *container,
                   const char *mount_point, const struct step_descriptors *descriptors)
{
    struct err err = ERR_INIT;
    const pid_t supervisor = getppid();
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    umask(0); /* so that new files get exactly the modes that the code passes */
    setsid();
    if (keep_descriptors(descriptors) < 0) {
        err_set_errno(&err, errno, "cannot pass descriptors to the container");
        dup2(descriptors->report, REPORT_FD); /* where init_fail() writes */
        init_fail(&err);
    }
    step_pipes_give(spec, container);
    if (step_limits_enter(spec, container, &err) < 0 ||
        step_isolation_build(spec, container, mount_point, &err) < 0)
        init_fail(&err);
    close_range(REPORT_FD + 1, ~0U, 0);
    bind_to_supervisor(spec);
    /* Otherwise the container's root could write to this program's file on the machine through
     * /proc/1/exe. */
    prctl(PR_SET_DUMPABLE, 0);
    prctl(PR_SET_NAME, "trainyard-init");

    if (spec->shares_processes && send_mark(&err) < 0)
        init_fail(&err);
    pid_t command = start_command(spec, container);
    init_send_report(&(struct step_report){.kind = STEP_RUNNING});
    /* The pipes must end when the command and its descendants have closed them, so this process
     * must not keep them open. */
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
    for (bool got_sigterm = false;;) {
        siginfo_t info;
        int number = sigwaitinfo(&all, &info);
        /* Reaps after every signal and before forwarding it: a command that has ended before
         * SIGTERM must not count as ended by SIGTERM. */
        init_reap_children(spec, command, got_sigterm);
        if (number == SIGCHLD)
            continue;
        if (getppid() != supervisor) {
            step_isolation_end(spec);
            _exit(1);
        } else if (number > 0) {
            got_sigterm = got_sigterm || number == SIGTERM;
            bool is_stop = number == SIGTERM && container->stop_signal;
            kill(command, is_stop ? (int)container->stop_signal : number);
        }
    }
}
