/* Creates and locks the model directory, in which a run writes its checkpoints and its model. Only
 * one run at a time may write to it. The worker that writes the files locks the directory before
 * the first step, so that a directory that cannot be written to is noticed early. If another worker
 * becomes the writer during the run, that worker locks the directory then. */
#ifndef TRAINYARD_TRAIN_RUN_MODEL_DIR_H
#define TRAINYARD_TRAIN_RUN_MODEL_DIR_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

#define MODEL_DIR_LOCK "run.lock"

/* Creates the directory and locks it. The lock lasts until the caller closes *ret_fd. The lock file
 * is never removed. `run` is the same number on all workers of the run; 0 if no other worker looks
 * for it. Returns 0 if the directory is locked. Returns 1 if the directory can be used but not
 * locked, for example because the file system has no locks; then `err` has the reason, and the
 * caller closes *ret_fd, too. Returns -ERR_CONFLICT if another process has the lock; the message
 * names that process. Returns another error if the directory or the lock file cannot be created. */
int model_dir_claim(const char *directory, uint64_t run, int *ret_fd, struct err *err);

/* Returns whether the process that most recently locked the directory belongs to run `run`. Returns
 * false if `run` is 0 or the lock file cannot be read. */
bool model_dir_is_of_run(const char *directory, uint64_t run);

/* Creates a directory and checks that files can be created in it. Returns 0 or the error. */
int model_dir_probe(const char *directory, struct err *err);

#endif
