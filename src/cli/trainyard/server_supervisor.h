/* The supervisor of the server in the background: a small parent process that restarts the server
 * after a crash. It holds the lock of the state directory and the listening socket of the API
 * server, so that the port stays taken and clients wait for the next server instead of being
 * refused. It has one thread and reads nothing from the network. SIGTERM to the supervisor ends
 * both. If the supervisor itself is killed, the server keeps running without one: ending a healthy
 * server would harm its clients. */
#ifndef TRAINYARD_CLI_TRAINYARD_SERVER_SUPERVISOR_H
#define TRAINYARD_CLI_TRAINYARD_SERVER_SUPERVISOR_H

#include "cli/trainyard/state_dir.h"

struct server_supervisor {
    const struct state_dir *state;
    /* Runs a server until it ends and returns its exit code; called in a child process. Writes one
     * byte to `alive_fd` once the server answers. */
    int (*serve)(void *context, int alive_fd);
    /* Called in the supervisor when the first server has been started. */
    void (*started)(void *context);
    void *context;
};

/* Keeps a server running until it stops on request, cannot be started, or crashes too often.
 * Returns the exit code for this process. */
int server_supervisor_run(const struct server_supervisor *supervisor);

/* Finds the supervisor of this state directory: a pidfd, which the caller closes, and its pid.
 * Returns -ERR_NOT_FOUND if none runs. */
int server_supervisor_find(const struct state_dir *state, int *ret_pidfd, pid_t *ret_pid,
                           struct err *err);

#endif
