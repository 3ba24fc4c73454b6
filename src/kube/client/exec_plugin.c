/* Runs a credential plugin; see exec_plugin.h. */
#include "kube/client/exec_plugin.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/moment.h"
#include "base/system/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ANSWER_MAX = 1024 * 1024, STDERR_MAX = 16 * 1024, LINE_TEXT_MAX = 300 };

/* A running plugin. */
struct run {
    const struct exec_plugin *plugin;
    bool interactive; /* the plugin uses the user's terminal */
    pid_t pid;
    int pid_fd;             /* readable when the plugin has ended; -1: the kernel has no pidfd */
    int out_fd, err_fd;     /* pipes from standard output and standard error; -1: closed */
    struct buf answer;      /* the standard output of the plugin */
    struct buf stderr_text; /* the end of the standard error of the plugin */
};

/* ---- starting -------------------------------------------------------------------------------- */

static char **make_environment(struct arena *arena, const struct exec_plugin *plugin,
                               bool interactive)
{
    size_t count = 0, more = 0, at = 0;
    while (environ[count])
        count++;
    while (plugin->env[more])
        more++;
    /* If several variables have one name, the last one in the kubeconfig must count, but most
     * programs use the first one. Therefore plugin->env is added in reverse order. Variables of
     * this process that have the name of an added variable are left out. */
    char **all = arena_alloc(arena, (count + more + 2) * sizeof(*all));
    all[at++] = arena_printf(arena, "KUBERNETES_EXEC_INFO=%s",
                             exec_plugin_info(arena, plugin, interactive));
    for (size_t i = more; i > 0; i--)
        all[at++] = plugin->env[i - 1];
    for (size_t i = 0; i < count; i++) {
        size_t name = strcspn(environ[i], "=") + 1;
        bool replaced = false;
        for (size_t j = 0; j <= more && !replaced; j++)
            replaced = strncmp(environ[i], all[j], name) == 0;
        if (!replaced)
            all[at++] = environ[i];
    }
    all[at] = NULL;
    return all;
}

static char **make_arguments(struct arena *arena, const struct exec_plugin *plugin)
{
    size_t count = 0;
    while (plugin->args[count])
        count++;
    char **all = arena_alloc(arena, (count + 2) * sizeof(*all));
    all[0] = arena_strdup(arena, plugin->command);
    memcpy(all + 1, plugin->args, (count + 1) * sizeof(*all));
    return all;
}

/* The plugin gets its own process group, so that its children can be killed, too. A plugin that
 * uses the terminal stays in the group of this process, because only the foreground group of a
 * terminal may read from it. */
static int plugin_run_spawn(struct arena *arena, struct run *run, int out_fd, int err_fd)
{
    const struct spawn how = {
        .arguments = make_arguments(arena, run->plugin),
        .environment = make_environment(arena, run->plugin, run->interactive),
        .place = run->interactive ? SPAWN_IN_OUR_GROUP : SPAWN_IN_OWN_GROUP,
        .in = run->interactive ? STDIN_FILENO : -1,
        .out = out_fd,
        .err = err_fd,
    };
    return spawn_process(&how, &run->pid);
}

static int plugin_run_start(struct arena *arena, struct run *run, struct err *err)
{
    const struct exec_plugin *plugin = run->plugin;
    int out[2] = {-1, -1}, err_pipe[2] = {-1, -1};
    if (pipe2(out, O_CLOEXEC) < 0 || pipe2(err_pipe, O_CLOEXEC) < 0) {
        int errnum = errno;
        if (out[0] >= 0) {
            close(out[0]);
            close(out[1]);
        }
        return err_set_errno(err, errnum, "cannot make a pipe for a credential plugin");
    }
    int errnum = plugin_run_spawn(arena, run, out[1], err_pipe[1]);
    close(out[1]);
    close(err_pipe[1]);
    run->out_fd = out[0];
    run->err_fd = err_pipe[0];
    if (errnum == ENOENT)
        return err_set(err, ERR_NOT_FOUND, "credential plugin '%.200s' was not found%s%.500s",
                       plugin->command,
                       plugin->install_hint ? ": " : "; install it, or add its directory to $PATH",
                       plugin->install_hint ? plugin->install_hint : "");
    if (errnum)
        return err_set_errno(err, errnum, "credential plugin '%.200s' cannot be started",
                             plugin->command);
    fcntl(run->out_fd, F_SETFL, O_NONBLOCK);
    fcntl(run->err_fd, F_SETFL, O_NONBLOCK);
    run->pid_fd = (int)syscall(SYS_pidfd_open, run->pid, 0);
    return 0;
}

/* ---- output and end -------------------------------------------------------------------------- */

/* Reads some of the available data. Returns the number of bytes, or 0 if no data is available now.
 * Closes the descriptor at the end of file and after an error. */
static size_t plugin_read_some(int *fd, char *data, size_t size)
{
    ssize_t got = *fd < 0 ? 0 : read(*fd, data, size);
    if (*fd >= 0 && (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))) {
        close(*fd);
        *fd = -1;
    }
    return got > 0 ? (size_t)got : 0;
}

static void take_all(struct run *run)
{
    char data[4096];
    for (size_t size; (size = plugin_read_some(&run->out_fd, data, sizeof(data))) > 0;)
        buf_append(&run->answer, data, size);
    for (size_t size; (size = plugin_read_some(&run->err_fd, data, sizeof(data))) > 0;) {
        if (run->stderr_text.size > STDERR_MAX) /* only the last line is used */
            buf_consume(&run->stderr_text, run->stderr_text.size - STDERR_MAX / 2);
        buf_append(&run->stderr_text, data, size);
        if (run->interactive)
            (void)!write(STDERR_FILENO, data, size);
    }
}

static void kill_run(struct run *run)
{
    kill(run->interactive ? run->pid : -run->pid, SIGKILL);
}

/* Reads the plugin's output until the plugin has ended. Does not wait for a child of the plugin
 * that still has the pipes open. Fails on a timeout, on `cancel_fd`, and if the output is too
 * long. */
static int listen_to(struct run *run, int cancel_fd, struct err *err)
{
    int64_t deadline = moment_monotonic_ms() + EXEC_TIMEOUT_MS;
    for (;;) {
        struct pollfd polls[] = {{.fd = run->pid_fd, .events = POLLIN},
                                 {.fd = run->out_fd, .events = POLLIN},
                                 {.fd = run->err_fd, .events = POLLIN},
                                 {.fd = cancel_fd, .events = POLLIN}};
        int64_t left = deadline - moment_monotonic_ms();
        int ready = poll(polls, 4, run->interactive ? -1 : left > 0 ? (int)left : 0);
        /* The end of the plugin is checked before the pipes are read, so that all its output is
         * read. */
        bool ended = ready > 0 && polls[0].revents;
        take_all(run);
        if (run->answer.overflowed)
            return err_set(err, ERR_TOO_LARGE,
                           "credential plugin '%.200s' printed more than %d bytes",
                           run->plugin->command, ANSWER_MAX);
        if (ended || (run->pid_fd < 0 && run->out_fd < 0 && run->err_fd < 0))
            break; /* the second condition is for kernels without pidfd */
        if (ready > 0 && polls[3].revents)
            return err_set(err, ERR_CANCELED, "credential plugin '%.200s': canceled",
                           run->plugin->command);
        if (ready == 0)
            return err_set(err, ERR_TIMEOUT,
                           "credential plugin '%.200s' did not end within %d s and was killed",
                           run->plugin->command, EXEC_TIMEOUT_MS / 1000);
    }
    return 0;
}

/* ---- result ---------------------------------------------------------------------------------- */

/* Copies the last line that is not blank into `line`, shortened; "" if there is none. */
static void last_line(const struct buf *stderr_text, char line[LINE_TEXT_MAX])
{
    const char *end = stderr_text->data + stderr_text->size, *start;
    while (end > stderr_text->data && strchr(" \t\r\n", end[-1]))
        end--;
    for (start = end; start > stderr_text->data && start[-1] != '\n';)
        start--;
    snprintf(line, LINE_TEXT_MAX, "%.*s",
             (int)(end - start < LINE_TEXT_MAX ? end - start : LINE_TEXT_MAX), start);
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < ' ') /* control characters may be escape sequences of a terminal */
            *c = ' ';
}

/* Returns 0 if the plugin exited with 0. `status` comes from waitpid(). */
static int plugin_run_judge(const struct run *run, int status, struct err *err)
{
    char line[LINE_TEXT_MAX] = "";
    const struct exec_plugin *plugin = run->plugin;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    if (run->stderr_text.size)
        last_line(&run->stderr_text, line);
    bool signaled = WIFSIGNALED(status);
    return err_set(err, ERR_UNAUTHORIZED, "credential plugin '%.200s' ended with %s %d%s%s%s%.300s",
                   plugin->command, signaled ? "signal" : "exit code",
                   signaled ? WTERMSIG(status) : WEXITSTATUS(status), *line ? ": " : "", line,
                   plugin->install_hint ? "; " : "",
                   plugin->install_hint ? plugin->install_hint : "");
}

static int run_plugin(struct arena *arena, struct run *run, int cancel_fd, struct err *err)
{
    int status = 0;
    int result = plugin_run_start(arena, run, err);
    if (result < 0)
        return result;
    result = listen_to(run, cancel_fd, err);
    if (result < 0)
        kill_run(run);
    while (waitpid(run->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return result < 0 ? result : plugin_run_judge(run, status, err);
}

int exec_plugin_run(struct arena *arena, const struct exec_plugin *plugin, bool may_prompt,
                    int cancel_fd, struct exec_credential *ret, struct err *err)
{
    bool terminal = may_prompt && isatty(STDIN_FILENO);
    struct run run = {
        .plugin = plugin,
        .interactive = terminal && plugin->interactive != EXEC_NEVER,
        .pid_fd = -1,
        .out_fd = -1,
        .err_fd = -1,
    };
    if (plugin->interactive == EXEC_ALWAYS && !run.interactive)
        return err_set(err, ERR_UNAUTHORIZED,
                       "credential plugin '%.200s' needs a terminal to ask its user "
                       "(interactiveMode: Always), but there is none",
                       plugin->command);
    buf_init(&run.answer, ANSWER_MAX);
    buf_init(&run.stderr_text, 2 * STDERR_MAX);
    int result = run_plugin(arena, &run, cancel_fd, err);
    if (result == 0)
        result = exec_credential_parse(arena, plugin, run.answer.data, run.answer.size, ret, err);
    int *const fds[] = {&run.pid_fd, &run.out_fd, &run.err_fd};
    for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
        if (*fds[i] >= 0)
            close(*fds[i]);
    buf_release(&run.answer);
    buf_release(&run.stderr_text);
    return result;
}
