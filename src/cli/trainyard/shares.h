/* The directories of the machine that all pods can read and write: `up --share DIR`. */
#ifndef TRAINYARD_CLI_TRAINYARD_SHARES_H
#define TRAINYARD_CLI_TRAINYARD_SHARES_H

#include "base/options/options.h"
#include "cli/trainyard/state_dir.h"

/* Chooses the directories: those of `wanted`, else those of the last `up`. The single word "none"
 * means no directories. They are saved for the next `up`. `ret` is NULL-terminated. */
int shares_choose(struct arena *arena, const struct state_dir *state,
                  const struct option_list *wanted, const char *const **ret, struct err *err);

/* The directories of the last `up`, NULL-terminated. */
int shares_kept(struct arena *arena, const struct state_dir *state, const char *const **ret,
                struct err *err);

#endif
