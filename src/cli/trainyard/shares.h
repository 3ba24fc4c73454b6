/* Chooses the directories of the machine that all pods can read and write: `up --share DIR`. */
#ifndef TRAINYARD_CLI_TRAINYARD_SHARES_H
#define TRAINYARD_CLI_TRAINYARD_SHARES_H

#include "base/options/options.h"
#include "cli/trainyard/state_dir.h"

/* Chooses the directories of `wanted` or, if it is empty, those of the last `up`. The single word
 * "none" means no directories. Saves the choice for the next `up`. *ret is NULL-terminated. */
int shares_choose(struct arena *arena, const struct state_dir *state,
                  const struct option_list *wanted, const char *const **ret, struct err *err);

/* Reads the directories of the last `up`. *ret is NULL-terminated. */
int shares_kept(struct arena *arena, const struct state_dir *state, const char *const **ret,
                struct err *err);

#endif
