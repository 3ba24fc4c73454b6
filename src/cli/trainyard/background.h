/* The server in the background: leaves the terminal, writes its log to a file, and tells `up` when
 * it is ready or why it is not. */
#ifndef TRAINYARD_CLI_TRAINYARD_BACKGROUND_H
#define TRAINYARD_CLI_TRAINYARD_BACKGROUND_H

#include "cli/trainyard/cluster.h"

/* Start the server and wait until it is ready. `lock` is the state directory's and goes to the
 * server, as the listening socket of the options does. `restart`: a keeper (server_keeper.h) starts
 * it again after a crash. */
int background_start(const struct cluster_options *options, int lock, bool restart,
                     struct err *err);

#endif
