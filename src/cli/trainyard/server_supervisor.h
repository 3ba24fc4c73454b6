/* The supervisor of the server in the background: a small parent process that restarts the server
 * after a crash. The supervisor keeps the lock of the state directory and the listening socket of
 * the API server. So no other process can take the port, and clients wait for the next server
 * instead of being refused. The supervisor has one thread and reads nothing from the network.
 * SIGTERM or SIGINT to the supervisor ends the server and the supervisor. If the supervisor itself
 * is killed, the server keeps running, because ending a healthy server would harm its clients. */
#ifndef TRAINYARD_CLI_TRAINYARD_SERVER_SUPERVISOR_H
#define TRAINYARD_CLI_TRAINYARD_SERVER_SUPERVISOR_H

#include "cli/trainyard/state_dir.h"

struct server_supervisor {
    const struct state_dir *state;
    /* Called in a child process for each server. Runs the server until it ends and returns its exit
     * code. Writes one byte to `alive_fd` when the server is ready. */
    int (*serve)(void *context, int alive_fd);
    /* Called once in the supervisor, right after the process of the first server was forked. */
    void (*started)(void *context);
    void *context;
};

/* Keeps a server running until it stops on request, crashes too often, or the first server ends
 * before it is ready. Returns the exit code for this process. */
int server_supervisor_run(const struct server_supervisor *supervisor);

/* Finds the supervisor of this state directory. Sets *ret_pid and *ret_pidfd; the caller closes the
 * pidfd. Returns -ERR_NOT_FOUND if no supervisor runs. */
int server_supervisor_find(const struct state_dir *state, int *ret_pidfd, pid_t *ret_pid,
                           struct err *err);

#endif
