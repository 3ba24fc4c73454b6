/* Chooses the directories of the machine that all pods can read and write (`trainyard up --share
 * DIR`). */
#ifndef TRAINYARD_CLI_TRAINYARD_SHARES_H
#define TRAINYARD_CLI_TRAINYARD_SHARES_H

#include "base/options/options.h"
#include "cli/trainyard/state_dir.h"

/* Chooses the directories of `wanted` and saves them for later starts. If `wanted` is empty,
 * chooses the saved directories. The single word "none" means no directories. *ret is
 * NULL-terminated and has real paths. */
int shares_choose(struct arena *arena, const struct state_dir *state,
                  const struct option_list *wanted, const char *const **ret, struct err *err);

/* Reads the directories that shares_choose() has saved. *ret is NULL-terminated. */
int shares_kept(struct arena *arena, const struct state_dir *state, const char *const **ret,
                struct err *err);

#endif
