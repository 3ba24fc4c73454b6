/* The keeper: a small process, the parent of the server in the background, that starts the server
 * again after a crash. It holds the lock of the state directory and the API's listening socket, so
 * that the port stays taken and clients wait for the next server instead of being refused. It has
 * one thread and reads nothing from the network. SIGTERM to the keeper ends both. If the keeper
 * itself is killed, the server goes on without one: its death harms no client, and ending a healthy
 * server for it would. */
#ifndef TRAINYARD_CLI_TRAINYARD_SERVER_KEEPER_H
#define TRAINYARD_CLI_TRAINYARD_SERVER_KEEPER_H

#include "cli/trainyard/state_dir.h"

struct server_supervisor {
    const struct state_dir *state;
    /* Runs a server until it ends and returns its exit code; it is called in a process of its own.
     * It writes one byte to `alive_fd` once the server answers. */
    int (*serve)(void *context, int alive_fd);
    /* Called in the keeper when the first server has been started. */
    void (*started)(void *context);
    void *context;
};

/* Keep a server running until it ends as it was asked to, cannot be started, or crashes too often.
 * Returns the exit code of this process. */
int server_supervisor_run(const struct server_supervisor *keeper);

/* The keeper of this state directory as a pidfd, and its pid. ERR_NOT_FOUND if none runs. */
int server_supervisor_find(const struct state_dir *state, int *ret_pidfd, pid_t *ret_pid,
                           struct err *err);

#endif
