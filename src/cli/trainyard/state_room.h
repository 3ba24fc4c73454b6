/* Room on the disk of the state directory for the files that a start of the server writes. A
 * running cluster keeps it as the blocks of run/room; a start on a full disk removes that file. So
 * a server starts on a full disk, also after a crash, and serves reads and deletions. */
#ifndef TRAINYARD_CLI_TRAINYARD_STATE_ROOM_H
#define TRAINYARD_CLI_TRAINYARD_STATE_ROOM_H

#include "cli/trainyard/state_dir.h"

/* Make sure that a start has its room. Returns -ERR_IO if the disk is too full even without
 * run/room; the message has the bytes that are free and needed. */
int state_reserve_use(const struct state_dir *state, struct err *err);

/* Keep room for the next start, if the disk has it. */
void state_reserve_keep(const struct state_dir *state);

#endif
