/* trainyard status: shows the server that runs in a state directory, and its restarts. */
#include "cli/trainyard/commands.h"
#include "cli/trainyard/server_supervisor.h"
#include "cli/trainyard/state_dir.h"

#include "base/cleanup.h"
#include "base/str.h"
#include "node/node.h"
#include "store/store_reserve.h"

#include <stdio.h>

struct status_values {
    const char *state;
    const char *output;
};

/* Returns the pid of the supervisor, or 0 if none runs. */
static pid_t supervisor_pid(const struct state_dir *state)
{
    _cleanup_fd_ int pidfd = -1;
    pid_t pid;
    return server_supervisor_find(state, &pidfd, &pid, NULL) == 0 ? pid : 0;
}

static void add_restarts(struct arena *arena, struct json *json, const struct state_dir *state,
                         const struct state_restarts *restarts)
{
    pid_t supervisor = supervisor_pid(state);
    json_set_bool(arena, json, "supervised", supervisor != 0);
    if (supervisor)
        json_set_int(arena, json, "supervisorPid", supervisor);
    json_set_int(arena, json, "restarts", restarts->count);
    if (restarts->time) {
        json_set_string(arena, json, "lastCrash", restarts->time);
        json_set_string(arena, json, "lastCrashCause", restarts->cause);
        json_set_bool(arena, json, "restarting", restarts->waiting);
        json_set_bool(arena, json, "gaveUp", restarts->gave_up);
    }
}

static void status_print_json(struct arena *arena, const struct state_dir *state,
                              const struct state_server *server)
{
    struct json *json = json_object(arena);
    json_set_bool(arena, json, "running", server->running);
    json_set_string(arena, json, "state", state->path);
    add_restarts(arena, json, state, &server->restarts);
    if (server->running) {
        json_set_int(arena, json, "pid", server->pid);
        json_set_int(arena, json, "port", server->port);
        json_set_string(arena, json, "kubeconfig", server->kubeconfig);
        json_set_string(arena, json, "version", server->version);
        json_set_bool(arena, json, "plain", node_plain_note(arena, state->path) != NULL);
        const char *note = node_note(arena, state->path);
        if (note)
            json_set_string(arena, json, "note", note);
        json_set_bool(arena, json, "diskFull", store_reserve_is_spent(arena, state->database));
    }
    puts(json_to_string(arena, json));
}

static void print_absence(const struct state_dir *state, const struct state_restarts *restarts)
{
    if (restarts->waiting)
        printf("running     no: the server crashed at %s with %s and is about to be started again\n"
               "restarted   %d %s\nstate       %s\nlog         %s\n",
               restarts->time, restarts->cause, restarts->count,
               restarts->count == 1 ? "time" : "times", state->path, state->log);
    else if (restarts->gave_up)
        printf("no cluster runs in '%s': the server crashed again and again, the last time at %s "
               "with %s, and is not started any more. Look into '%s', then start it with "
               "'trainyard up'\n",
               state->path, restarts->time, restarts->cause, state->log);
    else
        printf("no cluster runs in '%s': start one with 'trainyard up'\n", state->path);
}

static void print_text(struct arena *arena, const struct state_dir *state,
                       const struct state_server *server)
{
    if (!server->running) {
        print_absence(state, &server->restarts);
        return;
    }
    printf("running     yes\npid         %d\nserver      https://127.0.0.1:%d\nkubeconfig  %s\n"
           "state       %s\nversion     %s\n",
           (int)server->pid, server->port, server->kubeconfig, state->path, server->version);
    pid_t supervisor = supervisor_pid(state);
    if (supervisor)
        printf("supervised  by process %d\n", (int)supervisor);
    else
        printf("supervised  no: the server is not started again after a crash\n");
    if (server->restarts.count)
        printf("restarted   %d %s, last after a crash at %s with %s\n", server->restarts.count,
               server->restarts.count == 1 ? "time" : "times", server->restarts.time,
               server->restarts.cause);
    const char *note = node_note(arena, state->path);
    if (note)
        printf("note        %s\n", note);
    if (store_reserve_is_spent(arena, state->database))
        printf("disk        full: only deletions are written; free some space, or delete objects "
               "with kubectl\n");
}

static int status_run(const void *values, size_t count, const char *const *arguments,
                      struct err *err)
{
    (void)count, (void)arguments;
    const struct status_values *wanted = values;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct state_dir state;
    struct state_server server = {0};
    int result = state_dir_resolve(arena, wanted->state, &state, err);
    if (result == 0)
        result = state_dir_server(arena, &state, &server, err);
    if (result < 0)
        return result;
    if (str_eq(wanted->output, "json"))
        status_print_json(arena, &state, &server);
    else
        print_text(arena, &state, &server);
    return server.running ? 0 : 1;
}

static const struct option OPTIONS[] = {
    OPTION_STATE(struct status_values),
    {.name = "output",
     .letter = 'o',
     .type = OPTION_CHOICE,
     .offset = offsetof(struct status_values, output),
     .fallback = "text",
     .choices = "text|json",
     .value = "FORMAT",
     .help = "output format: text or json"},
    {0},
};

const struct command COMMAND_STATUS = {
    .name = "status",
    .summary = "show whether the embedded cluster runs, and where",
    .description = "Prints the process, the port, the kubeconfig and the version of the cluster "
                   "that runs in the state directory, and whether its server crashed and was "
                   "restarted. The exit code is 1 if none runs.",
    .options = OPTIONS,
    .values_size = sizeof(struct status_values),
    .run = status_run,
};
