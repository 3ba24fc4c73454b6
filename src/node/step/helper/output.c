/* Implements the mode output, the wrapper of a pipeline step. The wrapper runs the step's command
 * as its child, and forwards signals and the exit code. If the command succeeds, the wrapper writes
 * the content of the step's output files to the container's termination message, which appears in
 * the pod's status. This needs no privilege, no service account and no server, and works on any
 * cluster, but the message is limited to 4096 bytes. The wrapper may be the container's first
 * process, so it reaps orphans. */
#include "node/step/step.h"

#include "base/buf.h"
#include "base/json/json.h"
#include "base/str.h"
#include "base/system/file.h"
#include "node/pod/record/state.h"
#include "node/step/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_NO_COMMAND = 127, EXIT_NO_LOG = 64 };

static int exit_code_of(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Waits until the command has ended, reaps other children, and forwards every signal except SIGCHLD
 * to the command. Returns the exit code of the command, or 128 + signal. */
static int wait_for(pid_t command, const sigset_t *signals)
{
    for (;;) {
        siginfo_t info;
        int number = sigwaitinfo(signals, &info), status;

        if (number == SIGCHLD) {
            for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG)) > 0;)
                if (ended == command)
                    return exit_code_of(status);
        } else if (number > 0) {
            kill(command, number);
        }
    }
}

static int output_run_command(char **command)
{
    sigset_t signals, before;

    sigfillset(&signals);
    sigprocmask(SIG_SETMASK, &signals, &before);
    pid_t pid = fork();
    if (pid < 0) {
        fprintf(stderr, "trainyard-step: cannot start '%s': %s\n", command[0], strerror(errno));
        return EXIT_NO_COMMAND;
    }
    if (pid == 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        struct err err = ERR_INIT;
        step_command_become((const char *const *)command, &err);
        fprintf(stderr, "trainyard-step: %s\n", err.message);
        _exit(EXIT_NO_COMMAND);
    }
    return wait_for(pid, &signals);
}

/* Reads one file and drops a newline at its end, as Argo does. `*ret` becomes NULL if the file is
 * missing. That is not an error, because the parameter may have a default. */
static int output_read_value(struct arena *arena, const char *path, const char **ret,
                             struct err *err)
{
    _cleanup_buf_ struct buf text;

    buf_init(&text, POD_TERMINATION_MESSAGE_MAX);
    int result = file_read(path, &text, err);
    if (result == -ERR_NOT_FOUND) {
        *ret = NULL;
        err_clear(err);
        return 0;
    }
    if (result < 0)
        return result;
    if (text.size > 0 && text.data[text.size - 1] == '\n')
        text.size--;
    *ret = arena_strndup(arena, text.data, text.size);
    return 0;
}

static void write_error(struct arena *arena, const struct err *err, struct buf *line)
{
    struct json *report = json_object(arena);

    if (err->code == ERR_TOO_LARGE)
        json_set(arena, report, "error",
                 json_stringf(arena,
                              "the output parameters are larger than the %d bytes that fit into a "
                              "pod's status: write large values to a file on a volume and pass its "
                              "path",
                              POD_TERMINATION_MESSAGE_MAX));
    else
        json_set_string(arena, report, "error", err->message);
    buf_clear(line);
    json_write(report, line);
}

/* Writes the contents of the files to `line` as {"parameters": {"NAME": "content"}}, or {"error":
 * "message"} if they cannot be read or are too large. `pairs` are "NAME=FILE", and are modified. */
static void output_gather_files(struct arena *arena, int count, char **pairs, struct buf *line)
{
    struct json *report = json_object(arena);
    struct json *parameters = json_ensure_object(arena, report, "parameters");
    struct err err = ERR_INIT;

    for (int i = 0; i < count && !err.code; i++) {
        char *equals = strchr(pairs[i], '=');
        const char *value = NULL;

        if (!equals)
            continue;
        *equals = '\0';
        if (output_read_value(arena, equals + 1, &value, &err) == 0 && value)
            json_set_string(arena, parameters, pairs[i], value);
    }
    json_write(report, line);
    if (!err.code && line->overflowed)
        (void)err_set(&err, ERR_TOO_LARGE, "too large");
    if (err.code)
        write_error(arena, &err, line);
}

static int write_log(const char *path, const struct buf *line)
{
    struct err err = ERR_INIT;
    _cleanup_fd_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

    if (fd < 0)
        (void)err_set_errno(&err, errno, "cannot open '%s'", path);
    else
        (void)file_write_all(fd, line->data, line->size, &err);
    if (err.code)
        fprintf(stderr, "trainyard-step: cannot report the output parameters: %s\n", err.message);
    return err.code ? EXIT_NO_LOG : 0;
}

int step_output(int argc, char **argv)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    _cleanup_buf_ struct buf line;
    int pairs = 0, code;

    while (pairs + 1 < argc && !str_eq(argv[pairs + 1], "--"))
        pairs++;
    buf_init(&line, POD_TERMINATION_MESSAGE_MAX);
    if (pairs + 2 >= argc) {
        fputs("usage: trainyard-step output LOG NAME=FILE... -- COMMAND [ARGUMENT...]\n", stderr);
        return 2;
    }
    code = output_run_command(argv + pairs + 2);
    if (code != 0)
        return code;
    output_gather_files(arena, pairs, argv + 1, &line);
    return write_log(argv[0], &line);
}
