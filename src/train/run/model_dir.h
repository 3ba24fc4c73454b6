/* Creates and locks the directory in which a run writes its checkpoints and its model. Only one run
 * at a time may write to it. Called before the first step, by the worker that writes the files, so
 * that a directory that cannot be written to is noticed early. */
#ifndef TRAINYARD_TRAIN_RUN_MODEL_DIR_H
#define TRAINYARD_TRAIN_RUN_MODEL_DIR_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

#define MODEL_DIR_LOCK "run.lock"

/* Creates the directory and locks it. The lock lasts until the caller closes *ret_fd. The lock file
 * is never removed. `run` identifies the run to its other workers; 0: no other workers. Returns
 * -ERR_CONFLICT if another process has the lock, which the message names. Returns 1 if the file
 * system has no locks, with the reason in `err`. The directory can be used in that case. */
int model_dir_claim(const char *directory, uint64_t run, int *ret_fd, struct err *err);

/* Returns whether the process that locked the directory last belongs to this run. */
bool model_dir_is_of_run(const char *directory, uint64_t run);

/* Creates a directory and checks that files can be created in it. */
int model_dir_probe(const char *directory, struct err *err);

#endif
