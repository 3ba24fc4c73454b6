/* Runs the server in the background for `trainyard up`: forks, detaches the server from the
 * terminal, writes its log to a file, and reports to `trainyard up` when the server is ready or why
 * it failed. */
#ifndef TRAINYARD_CLI_TRAINYARD_BACKGROUND_H
#define TRAINYARD_CLI_TRAINYARD_BACKGROUND_H

#include "cli/trainyard/cluster.h"

/* Starts the server in a child process and waits until it is ready. The server inherits `lock`, the
 * lock of the state directory, and the listening socket in `options`. After a successful fork this
 * function closes its copy of the socket, but not of the lock. With `restart`, a supervisor
 * (server_supervisor.h) restarts the server after a crash. Returns 0, -ERR_UNAVAILABLE with the
 * message of a server that failed, or another negative code. */
int background_start(const struct cluster_options *options, int lock, bool restart,
                     struct err *err);

#endif
