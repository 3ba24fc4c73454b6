/* Runs the server in the background: it leaves the terminal, writes its log to a file, and tells
 * `up` when it is ready or why it failed. */
#ifndef TRAINYARD_CLI_TRAINYARD_BACKGROUND_H
#define TRAINYARD_CLI_TRAINYARD_BACKGROUND_H

#include "cli/trainyard/cluster.h"

/* Starts the server and waits until it is ready. The server takes over `lock`, the lock of the
 * state directory, and the listening socket of the options. With `restart`, a supervisor
 * (server_supervisor.h) restarts it after a crash. */
int background_start(const struct cluster_options *options, int lock, bool restart,
                     struct err *err);

#endif
