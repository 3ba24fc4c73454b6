/* Runs the server in the background: detaches it from the terminal, writes its log to a file, and
 * tells `up` when the server is ready or why it failed. */
#ifndef TRAINYARD_CLI_TRAINYARD_BACKGROUND_H
#define TRAINYARD_CLI_TRAINYARD_BACKGROUND_H

#include "cli/trainyard/cluster.h"

/* Starts the server and waits until it is ready. The server takes ownership of `lock`, the lock of
 * the state directory, and of the listening socket in `options`. With `restart`, a supervisor
 * (server_supervisor.h) restarts the server after a crash. */
int background_start(const struct cluster_options *options, int lock, bool restart,
                     struct err *err);

#endif
