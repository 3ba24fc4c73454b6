/* The directory in which a run keeps its checkpoints and its model. One run at a time writes there,
 * and a directory that cannot be written to is noticed before the first step. Called by the worker
 * that writes for a run. */
#ifndef TRAINYARD_TRAIN_RUN_MODEL_DIR_H
#define TRAINYARD_TRAIN_RUN_MODEL_DIR_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

#define MODEL_DIR_LOCK "run.lock"

/* Makes the directory and locks it for as long as ret_fd stays open. The lock file stays. `run`
 * identifies the run to its other workers; 0: no other workers. Returns -ERR_CONFLICT with the
 * process that holds the lock, or 1 if the file system has no locks, with the reason in `err`; the
 * directory can be used then. */
int model_dir_claim(const char *directory, uint64_t run, int *ret_fd, struct err *err);

/* Whether the process that locked the directory last belongs to this run. */
bool model_dir_is_of_run(const char *directory, uint64_t run);

/* Makes a directory and checks that files can be created in it. */
int model_dir_probe(const char *directory, struct err *err);

#endif
