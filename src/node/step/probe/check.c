/* Runs one try of a probe or hook; see step/probe/check.h. */
#include "node/step/probe/check.h"

#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum {
    CHILD_EXTRA_MS = 1000, /* time after its deadline in which the child can still send its verdict;
                              then it is killed */
    OUTPUT_MAX = 10 << 10, /* bytes of a command's output, as in the kubelet */
};

static void run_child(const struct step_check_options *options, int64_t deadline_ms, int fd)
    __attribute__((noreturn));
static void run_child(const struct step_check_options *options, int64_t deadline_ms, int fd)
{
    struct step_verdict verdict = {.outcome = CHECK_FAILED};
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "trainyard-check");
    step_check_net(options, deadline_ms, &verdict);
    ssize_t written = write(fd, &verdict, sizeof(verdict)); /* atomic: smaller than PIPE_BUF */
    _exit(written == (ssize_t)sizeof(verdict) ? 0 : 1);
}

static void start_child(struct step_check *check)
{
    int fds[2];
    int64_t deadline_ms = check->deadline_ms;
    bool has_pipe = pipe2(fds, O_CLOEXEC) == 0;
    if (!has_pipe || (check->pid = fork()) < 0) {
        err_set_errno(&check->failure, errno, "cannot start a process for the check");
        if (has_pipe) {
            close(fds[0]);
            close(fds[1]);
        }
        check->pid = 0;
        return;
    }
    if (check->pid == 0)
        run_child(&check->options, deadline_ms, fds[1]);
    close(fds[1]);
    fcntl(fds[0], F_SETFL, O_NONBLOCK);
    check->fd = fds[0];
    if (deadline_ms != INT64_MAX)
        check->deadline_ms += CHILD_EXTRA_MS;
}

static void start_command(struct step_check *check)
{
    const struct step_exec_options options = {
        .arguments = (const char *const *)check->options.handler->words.items,
        .fds = {-1, -1, -1},
        .captured = OUTPUT_MAX,
    };
    (void)step_exec_start(&check->exec, check->options.run, &options, &check->failure);
}

void step_check_start(struct step_check *check, const struct step_check_options *options,
                      int64_t now_ms)
{
    *check = (struct step_check)STEP_CHECK_INIT;
    check->runs = true;
    check->options = *options;
    check->deadline_ms = options->timeout_ms ? now_ms + options->timeout_ms : INT64_MAX;
    if (options->handler->kind == HANDLER_SLEEP)
        check->deadline_ms = now_ms + options->handler->sleep_ms;
    else if (options->handler->kind == HANDLER_EXEC)
        start_command(check);
    else
        start_child(check);
}

void step_check_cancel(struct step_check *check)
{
    if (check->fd >= 0)
        close(check->fd);
    if (check->pid > 0)
        kill(check->pid, SIGKILL);
    step_exec_release(&check->exec);
    *check = (struct step_check)STEP_CHECK_INIT;
}

void step_check_reaped(struct step_check *check, pid_t pid, int wait_status)
{
    if (check->pid == pid)
        check->pid = 0; /* the kernel may reuse the pid now */
    if (check->exec.pid == pid && step_exec_reaped(&check->exec, pid, wait_status, &check->end))
        check->has_ended = true;
}

int step_check_fd(const struct step_check *check)
{
    return check->fd >= 0 ? check->fd : check->exec.output_fd;
}

/* Ends the check with this verdict. Returns true. */
static bool end_with(struct step_check *check, struct step_verdict *ret, enum step_outcome outcome,
                     const char *message)
{
    *ret = (struct step_verdict){.outcome = outcome};
    str_copy(ret->message, sizeof(ret->message), message);
    step_check_cancel(check);
    return true;
}

static bool look_at_child(struct step_check *check, struct step_verdict *ret)
{
    struct step_verdict verdict;
    ssize_t got = read(check->fd, &verdict, sizeof(verdict));
    if (got == 0)
        return end_with(check, ret, CHECK_FAILED, "the process of the check was killed");
    if (got != (ssize_t)sizeof(verdict))
        return false;
    *ret = verdict;
    step_check_cancel(check);
    return true;
}

static bool look_at_command(struct step_check *check, struct step_verdict *ret)
{
    if (check->exec.output_fd >= 0)
        step_exec_read(&check->exec);
    if (!check->has_ended)
        return false;
    char *output = check->exec.output.data, text[POD_MESSAGE_MAX];
    str_copy(text, sizeof(text), check->end.message[0] ? check->end.message : output ? output : "");
    return end_with(check, ret, check->end.exit_code == 0 ? CHECK_PASSED : CHECK_FAILED, text);
}

static bool look_at_deadline(struct step_check *check, struct step_verdict *ret)
{
    const struct pod_handler *handler = check->options.handler;
    char text[POD_MESSAGE_MAX] = "it timed out", words[POD_MESSAGE_MAX / 2] = "";
    if (handler->kind == HANDLER_SLEEP)
        return end_with(check, ret, CHECK_PASSED, "");
    for (size_t i = 0, used = 0; i < handler->words.count && used < sizeof(words); i++) {
        snprintf(words + used, sizeof(words) - used, "%s%s", i ? " " : "", handler->words.items[i]);
        used = strlen(words);
    }
    if (handler->kind == HANDLER_EXEC)
        snprintf(text, sizeof(text), "command timed out: \"%s\" timed out after %llds", words,
                 (long long)check->options.timeout_ms / 1000);
    return end_with(check, ret, CHECK_FAILED, text);
}

bool step_check_look(struct step_check *check, int64_t now_ms, int64_t *wake,
                     struct step_verdict *ret)
{
    if (!check->runs)
        return false;
    if (check->failure.code)
        return end_with(check, ret, CHECK_FAILED, check->failure.message);
    if (check->fd >= 0 ? look_at_child(check, ret) : look_at_command(check, ret))
        return true;
    if (now_ms >= check->deadline_ms)
        return look_at_deadline(check, ret);
    if (check->deadline_ms < *wake)
        *wake = check->deadline_ms;
    return false;
}
