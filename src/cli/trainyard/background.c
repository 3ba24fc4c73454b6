/* Runs the server in the background; see background.h. */
#include "cli/trainyard/background.h"

#include "base/log.h"
#include "base/system/file.h"
#include "cli/trainyard/server_supervisor.h"
#include "cli/trainyard/state_reserve.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* State of the background processes (server and supervisor). */
struct background {
    const struct cluster_options *options;
    /* The pipe to `trainyard up`. The server writes one zero byte when it is ready, or the error
     * message if it fails. -1: closed. */
    int ready_fd;
    int alive_fd; /* the pipe to the supervisor; -1: no supervisor, or closed */
};

/* Writes to one of the pipes and closes it. Does nothing if the pipe is closed. */
static void background_tell(int *fd, const char *data, size_t size)
{
    if (*fd < 0)
        return;
    (void)file_write_all(*fd, data, size, NULL);
    close(*fd);
    *fd = -1;
}

static void on_ready(void *context)
{
    struct background *background = context;
    background_tell(&background->ready_fd, "", 1);
    background_tell(&background->alive_fd, "", 1);
}

/* Closes descriptors that were inherited from the shell. An inherited write end of a pipe would
 * keep the reader of the pipe waiting forever. */
static void close_inherited(const int *keep, size_t count)
{
    unsigned from = STDERR_FILENO + 1;
    for (;;) {
        unsigned next = UINT_MAX;
        for (size_t i = 0; i < count; i++)
            if ((unsigned)keep[i] >= from && (unsigned)keep[i] < next)
                next = (unsigned)keep[i];
        if (next > from)
            close_range(from, next - 1, 0);
        if (next == UINT_MAX)
            return;
        from = next + 1;
    }
}

/* Detaches from the terminal and redirects the output to the log file. */
static int leave_terminal(const struct state_dir *state, struct err *err)
{
    setsid();
    _cleanup_fd_ int log = open(state->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log < 0)
        return err_set_errno(err, errno, "cannot open '%s'", state->log);
    _cleanup_fd_ int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null < 0)
        return err_set_errno(err, errno, "cannot open '/dev/null'");
    if (dup2(null, STDIN_FILENO) < 0 || dup2(log, STDOUT_FILENO) < 0 ||
        dup2(log, STDERR_FILENO) < 0 || chdir("/") < 0)
        return err_set_errno(err, errno, "cannot run the server in the background");
    return 0;
}

static int report_failure(struct background *background, const struct err *err)
{
    log_error("trainyard", "%s", err->message);
    background_tell(&background->ready_fd, err->message, strlen(err->message));
    return err_info(err->code)->exit_code;
}

/* Runs the server in this process; returns its exit code. */
static int background_serve(struct background *background)
{
    struct err err = ERR_INIT;
    int result = cluster_run(background->options, on_ready, background, &err);
    return result < 0 ? report_failure(background, &err) : 0;
}

/* Runs one server as a child of the supervisor. Each server except the first is a restart after a
 * crash and has no pipe to `trainyard up`. */
static int on_serve(void *context, int alive_fd)
{
    struct background *background = context;
    struct cluster_options options = *background->options;
    options.restarted = background->ready_fd < 0;
    background->options = &options;
    background->alive_fd = alive_fd;
    struct err err = ERR_INIT;
    if (options.restarted && state_reserve_use(options.state, &err) < 0)
        return report_failure(background, &err);
    return background_serve(background);
}

/* Closes the supervisor's copy of the pipe to `trainyard up`. Only the first server has the pipe
 * now, so `trainyard up` notices if that server ends. */
static void on_first_started(void *context)
{
    struct background *background = context;
    close(background->ready_fd);
    background->ready_fd = -1;
}

static int run_in_background(const struct cluster_options *options, int lock, int ready_fd,
                             bool restart)
{
    struct background background = {.options = options, .ready_fd = ready_fd, .alive_fd = -1};
    struct err err = ERR_INIT;
    close_inherited((int[]){lock, options->listen_fd, ready_fd}, 3);
    if (leave_terminal(options->state, &err) < 0)
        return report_failure(&background, &err);
    const struct server_supervisor supervisor = {.state = options->state,
                                                 .serve = on_serve,
                                                 .started = on_first_started,
                                                 .context = &background};
    return restart ? server_supervisor_run(&supervisor) : background_serve(&background);
}

/* Waits for the zero byte, the error message, or the end of the server. */
static int wait_until_ready(pid_t child, int fd, const struct state_dir *state, struct err *err)
{
    char text[ERR_MESSAGE_MAX] = "";
    size_t size = 0;
    for (ssize_t got; size < sizeof(text) - 1; size += (size_t)got) {
        got = read(fd, text + size, sizeof(text) - 1 - size);
        if (got < 0 && errno == EINTR) {
            got = 0;
            continue;
        }
        if (got <= 0)
            break;
        if (text[0] == '\0')
            return 0;
    }
    text[size] = '\0';
    int status = 0;
    waitpid(child, &status, 0);
    if (size > 0)
        return err_set(err, ERR_UNAVAILABLE, "%s", text);
    return err_set(err, ERR_INTERNAL, "the server ended before it was ready: see '%s'", state->log);
}

int background_start(const struct cluster_options *options, int lock, bool restart, struct err *err)
{
    int pipe_fds[2];
    if (pipe2(pipe_fds, O_CLOEXEC) < 0)
        return err_set_errno(err, errno, "cannot make a pipe");
    fflush(stdout);
    pid_t child = fork();
    if (child < 0)
        return err_set_errno(err, errno, "cannot start a process");
    if (child == 0) {
        close(pipe_fds[0]);
        _exit(run_in_background(options, lock, pipe_fds[1], restart));
    }
    close(pipe_fds[1]);
    close(options->listen_fd);
    int result = wait_until_ready(child, pipe_fds[0], options->state, err);
    close(pipe_fds[0]);
    return result;
}
