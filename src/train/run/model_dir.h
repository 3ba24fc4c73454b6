/* The directory a run keeps its checkpoints and its model in: one run at a time writes there, and
 * whether it can is known before the first step. Called by who writes for a run. */
#ifndef TRAINYARD_TRAIN_MODEL_DIR_H
#define TRAINYARD_TRAIN_MODEL_DIR_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

#define MODEL_DIR_LOCK "run.lock"

/* Make the directory and claim it, for as long as ret_fd stays open; the file of that name stays.
 * `run`: what all workers of a run have in common, 0: nothing. ERR_CONFLICT names the process that
 * has it. 1: this file system has no locks, as `err` says; what else is there counts all the same.
 */
int model_dir_claim(const char *directory, uint64_t run, int *ret_fd, struct err *err);

/* Whether the one that claimed it last is of this run. */
bool model_dir_is_of_run(const char *directory, uint64_t run);

/* Make a directory, and see that files can be made in it. */
int model_dir_probe(const char *directory, struct err *err);

#endif
