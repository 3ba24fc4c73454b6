/* trainyard down: stops the embedded cluster and its pods. */
#include "cli/trainyard/commands.h"
#include "cli/trainyard/server_supervisor.h"
#include "cli/trainyard/state_dir.h"

#include "base/system/file.h"
#include "node/node.h"
#include "node/process/lock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/pidfd.h>
#include <unistd.h>

enum { STOP_TIMEOUT_MS = 15000 };

struct down_values {
    const char *state;
    bool wipe;
};

/* Stops a server without a supervisor: sends SIGTERM and, after a timeout, SIGKILL. Acknowledged
 * writes are on disk in both cases. */
static int stop_server(pid_t pid, struct err *err)
{
    _cleanup_fd_ int fd = pidfd_open(pid, 0);
    if (fd < 0)
        return errno == ESRCH ? 0 : err_set_errno(err, errno, "cannot watch process %d", (int)pid);
    if (kill(pid, SIGTERM) < 0 && errno != ESRCH)
        return err_set_errno(err, errno, "cannot stop process %d", (int)pid);
    struct pollfd gone = {.fd = fd, .events = POLLIN};
    if (poll(&gone, 1, STOP_TIMEOUT_MS) > 0)
        return 0;
    fprintf(stderr, "trainyard: process %d did not stop in time: killing it\n", (int)pid);
    int result = process_kill(fd, PROCESS_DEATH_MS, err);
    return result < 0 ? err_wrap(err, "cannot stop the server (process %d)", (int)pid) : 0;
}

/* Stops the supervisor, if one runs, and waits for its end. The supervisor stops its server first.
 */
static int stop_supervisor(const struct state_dir *state, bool *ret_was_running, struct err *err)
{
    _cleanup_fd_ int pidfd = -1;
    pid_t pid;
    *ret_was_running = server_supervisor_find(state, &pidfd, &pid, NULL) == 0;
    if (!*ret_was_running)
        return 0;
    if (pidfd_send_signal(pidfd, SIGTERM, NULL, 0) < 0 && errno != ESRCH)
        return err_set_errno(err, errno, "cannot stop process %d", (int)pid);
    if (!process_wait_end(pidfd, STOP_TIMEOUT_MS + PROCESS_DEATH_MS))
        return err_set(err, ERR_TIMEOUT,
                       "the server (a child of process %d) did not stop in time: try again",
                       (int)pid);
    return 0;
}

static int server_down(const struct state_dir *state, bool wipe, bool *ret_was_running,
                       struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct state_server server = {0};
    bool was_supervised = false;
    int result = stop_supervisor(state, &was_supervised, err);
    if (result == 0)
        result = state_dir_server(arena, state, &server, err);
    if (result == 0 && server.running)
        result = stop_server(server.pid, err);
    if (result == 0)
        unlink(state->restarts);
    if (result == 0 && file_exists(state->path))
        result = node_namespaces_destroy(state->path, err);
    if (result == 0 && wipe)
        result = node_wipe(state->path, err);
    if (result == 0 && wipe)
        result = file_remove_tree(state->path, err);
    *ret_was_running = was_supervised || server.running;
    return result;
}

static int down_run(const void *values, size_t count, const char *const *arguments, struct err *err)
{
    (void)count, (void)arguments;
    const struct down_values *wanted = values;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct state_dir state;
    bool was_running = false;
    int result = state_dir_resolve(arena, wanted->state, &state, err);
    if (result == 0)
        result = server_down(&state, wanted->wipe, &was_running, err);
    if (result < 0)
        return result;
    printf("%s%s\n", was_running ? "the cluster is down" : "no cluster was running",
           wanted->wipe ? " and its state is gone" : "");
    return 0;
}

static const struct option OPTIONS[] = {
    OPTION_STATE(struct down_values),
    {.name = "wipe",
     .type = OPTION_FLAG,
     .offset = offsetof(struct down_values, wipe),
     .help = "also delete the state: objects, logs, volumes, credentials"},
    {0},
};

const struct command COMMAND_DOWN = {
    .name = "down",
    .synonyms = "stop|destroy|kill|end",
    .summary = "stop the embedded cluster and every pod in it",
    .description =
        "Stops the server and the pods. The state stays, so that the next 'trainyard up' "
        "finds every "
        "object again; --wipe deletes the state as well.",
    .options = OPTIONS,
    .values_size = sizeof(struct down_values),
    .run = down_run,
};
