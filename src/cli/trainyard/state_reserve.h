/* Reserves disk space in the state directory for the files that a start of the server writes. A
 * running cluster keeps the file run/room, which occupies this space. A start on a full disk
 * removes the file. So a server can start on a full disk, also after a crash, and serve reads and
 * deletions. */
#ifndef TRAINYARD_CLI_TRAINYARD_STATE_RESERVE_H
#define TRAINYARD_CLI_TRAINYARD_STATE_RESERVE_H

#include "cli/trainyard/state_dir.h"

/* Makes sure that a start has enough space: removes run/room if too little space is free. Returns
 * 0, or -ERR_IO with err->sys ENOSPC if too little space is free even then. */
int state_reserve_use(const struct state_dir *state, struct err *err);

/* Reserves space for the next start. Does nothing if the disk has too little free space. */
void state_reserve_keep(const struct state_dir *state);

#endif
