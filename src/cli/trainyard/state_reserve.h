/* Disk space in the state directory for the files that a start of the server writes. A running
 * cluster reserves it as the blocks of the file run/room; a start on a full disk removes that file.
 * So a server starts on a full disk, also after a crash, and serves reads and deletions. */
#ifndef TRAINYARD_CLI_TRAINYARD_STATE_RESERVE_H
#define TRAINYARD_CLI_TRAINYARD_STATE_RESERVE_H

#include "cli/trainyard/state_dir.h"

/* Makes sure that a start has enough space: removes run/room if the disk is full. Returns -ERR_IO
 * if the space is too small even then; the message has the free and the needed bytes. */
int state_reserve_use(const struct state_dir *state, struct err *err);

/* Reserves space for the next start, if the disk has it. */
void state_reserve_keep(const struct state_dir *state);

#endif
