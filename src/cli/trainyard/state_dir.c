/* Finds, creates and locks the state directory; see state_dir.h. */
#include "cli/trainyard/state_dir.h"

#include "base/cleanup.h"
#include "base/json/json_file.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/system/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PROCESS_FILE_MAX = 16 * 1024,
    SERVER_WAIT_MS = 15 * 1000, /* the value of server_wait_ms */
    SERVER_POLL_MS = 10,
};

int state_dir_resolve(struct arena *arena, const char *given, struct state_dir *ret,
                      struct err *err)
{
    const char *state_home = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char *path;
    if (!str_is_empty(given))
        path = arena_strdup(arena, given);
    else if (!str_is_empty(state_home))
        path = arena_printf(arena, "%s/trainyard", state_home);
    else if (!str_is_empty(home))
        path = arena_printf(arena, "%s/.local/state/trainyard", home);
    else
        return err_set(err, ERR_USAGE,
                       "HOME is not set: name the state directory with --state DIR");
    if (path[0] != '/') {
        _cleanup_free_ char *current = getcwd(NULL, 0);
        if (!current)
            return err_set_errno(err, errno, "cannot get the current directory");
        path = arena_printf(arena, "%s/%s", current, path);
    }
    for (size_t size = strlen(path); size > 1 && path[size - 1] == '/'; size--)
        path[size - 1] = '\0';
    *ret = (struct state_dir){
        .path = path,
        .server_wait_ms = SERVER_WAIT_MS,
        .database = arena_printf(arena, "%s/store.db", path),
        .lock = arena_printf(arena, "%s/run/lock", path),
        .server = arena_printf(arena, "%s/run/server.json", path),
        .supervisor = arena_printf(arena, "%s/run/keeper", path),
        .restarts = arena_printf(arena, "%s/run/restarts.json", path),
        .reserve = arena_printf(arena, "%s/run/room", path),
        .settings = arena_printf(arena, "%s/settings.json", path),
        .log = arena_printf(arena, "%s/trainyard.log", path),
        .kubeconfig = arena_printf(arena, "%s/kubeconfig", path),
        .token = arena_printf(arena, "%s/token", path),
        .pki = arena_printf(arena, "%s/pki", path),
    };
    return 0;
}

int state_dir_make(const struct state_dir *state, struct err *err)
{
    _cleanup_buf_ struct buf run;
    buf_init(&run, 4096);
    buf_printf(&run, "%s/run", state->path);
    int result = file_make_dirs(run.data, 0700, err);
    if (result == 0)
        result = file_make_dirs(state->pki, 0700, err);
    if (result == 0 && chmod(state->path, 0700) < 0)
        result = err_set_errno(err, errno, "cannot restrict access to '%s'", state->path);
    return result;
}

int state_dir_lock(const struct state_dir *state, int *ret_fd, struct err *err)
{
    _cleanup_fd_ int fd = open(state->lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_set_errno(err, errno, "cannot open '%s'", state->lock);
    if (flock(fd, LOCK_EX | LOCK_NB) < 0)
        return errno == EWOULDBLOCK
                   ? err_set(err, ERR_EXISTS,
                             "a cluster or 'trainyard check' is already running in '%s'",
                             state->path)
                   : err_set_errno(err, errno, "cannot lock '%s'", state->lock);
    unlink(state->server); /* both files describe a server that has ended */
    unlink(state->restarts);
    *ret_fd = TAKE_FD(fd);
    return 0;
}

/* Returns whether a process holds the lock. The pid in the server file is not a proof that a server
 * runs, because another process may have this pid by now. */
static bool is_locked(const struct state_dir *state)
{
    _cleanup_fd_ int fd = open(state->lock, O_RDWR | O_CLOEXEC);
    return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

/* Returns whether the process has ended or has a pending SIGKILL. A killed process keeps its locks
 * until the kernel has freed its memory. */
static bool process_is_ending(pid_t pid)
{
    static const char *const pending[] = {"SigPnd:", "ShdPnd:"};
    char path[64];
    _cleanup_buf_ struct buf text;
    buf_init(&text, PROCESS_FILE_MAX);
    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    if (file_read(path, &text, NULL) < 0 || strstr(text.data, "\nState:\tZ"))
        return true;
    for (size_t i = 0; i < ARRAY_SIZE(pending); i++) {
        const char *line = strstr(text.data, pending[i]);
        uint64_t signals = line ? strtoull(line + strlen(pending[i]), NULL, 16) : 0;
        if (signals & 1ULL << (SIGKILL - 1))
            return true;
    }
    return false;
}

static int read_server(struct arena *arena, const struct state_dir *state, struct state_server *ret,
                       struct err *err)
{
    struct json *json = NULL;
    int result = json_file_read(arena, state->server, &json, err);
    if (result < 0)
        return err_wrap(err, "cannot find out which server runs in '%s'", state->path);
    *ret = (struct state_server){
        .running = true,
        .pid = (pid_t)json_get_int(json, "pid", 0),
        .port = (int)json_get_int(json, "port", 0),
        .kubeconfig = json_get_string(json, "kubeconfig", ""),
        .version = json_get_string(json, "version", ""),
    };
    return 0;
}

static void state_read_restarts(struct arena *arena, const struct state_dir *state,
                                struct state_restarts *ret)
{
    struct json *json = NULL;
    *ret = (struct state_restarts){0};
    if (json_file_read(arena, state->restarts, &json, NULL) < 0)
        return;
    *ret = (struct state_restarts){
        .count = (int)json_get_int(json, "count", 0),
        .time = json_get_string(json, "time", NULL),
        .cause = json_get_string(json, "cause", ""),
        .waiting = json_get_bool(json, "waiting", false),
        .gave_up = json_get_bool(json, "gaveUp", false),
    };
}

/* Sets the error for a server that did not start, stop or restart within server_wait_ms. */
static int server_transition_error(const struct state_dir *state,
                                   const struct state_restarts *restarts, struct err *err)
{
    if (restarts->waiting)
        return err_set(err, ERR_UNAVAILABLE,
                       "the server in '%s' crashed with %s and waits to be started again: try "
                       "again, or end it with 'trainyard down'",
                       state->path, restarts->cause);
    return err_set(err, ERR_UNAVAILABLE,
                   "the cluster in '%s' is starting or ending, or 'trainyard check' is running on "
                   "it: try again",
                   state->path);
}

static int find_server(struct arena *arena, const struct state_dir *state, bool through_restart,
                       struct state_server *ret, struct err *err)
{
    struct state_server server = {0};
    for (int waited = 0; is_locked(state); waited += SERVER_POLL_MS) {
        int result = read_server(arena, state, &server, err);
        if (result < 0 && result != -ERR_NOT_FOUND)
            return result;
        state_read_restarts(arena, state, &server.restarts);
        if (result == 0 && !process_is_ending(server.pid)) {
            *ret = server;
            return 0;
        }
        if (server.restarts.waiting && !through_restart)
            break;
        if (waited >= state->server_wait_ms)
            return server_transition_error(state, &server.restarts, err);
        poll(NULL, 0, SERVER_POLL_MS);
    }
    *ret = (struct state_server){0};
    state_read_restarts(arena, state, &ret->restarts);
    ret->restarts.waiting = ret->restarts.waiting && is_locked(state);
    return 0;
}

int state_dir_server(struct arena *arena, const struct state_dir *state, struct state_server *ret,
                     struct err *err)
{
    return find_server(arena, state, false, ret, err);
}

int state_dir_await_server(struct arena *arena, const struct state_dir *state,
                           struct state_server *ret, struct err *err)
{
    return find_server(arena, state, true, ret, err);
}

int state_dir_write_restarts(const struct state_dir *state, const struct state_restarts *restarts,
                             struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *json = json_object(arena);
    json_set_int(arena, json, "count", restarts->count);
    json_set_string(arena, json, "time", restarts->time);
    json_set_string(arena, json, "cause", restarts->cause);
    json_set_bool(arena, json, "waiting", restarts->waiting);
    json_set_bool(arena, json, "gaveUp", restarts->gave_up);
    return json_file_write(state->restarts, json, err);
}

int state_dir_write_server(const struct state_dir *state, const struct state_server *server,
                           struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *json = json_object(arena);
    json_set_int(arena, json, "pid", server->pid);
    json_set_int(arena, json, "port", server->port);
    json_set_string(arena, json, "kubeconfig", server->kubeconfig);
    json_set_string(arena, json, "version", server->version);
    return json_file_write(state->server, json, err);
}
