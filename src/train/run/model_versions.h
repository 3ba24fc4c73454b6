/* Writes and finds the versions of an exported model. A directory has one subdirectory per version,
 * whose name is a number, as in TensorFlow Serving. A version appears complete or not at all. The
 * training of a classifier publishes a version at its end, on the worker that writes files for the
 * run. `trainer serve` watches the directory and serves the highest version. */
#ifndef TRAINYARD_TRAIN_RUN_MODEL_VERSIONS_H
#define TRAINYARD_TRAIN_RUN_MODEL_VERSIONS_H

#include "base/err.h"

#include <stdint.h>

enum { MODEL_VERSIONS_PATH_MAX = 4096 };

/* Publishes a version. Calls `write`, which must create and sync `file` in a temporary directory.
 * Then syncs this directory and renames it to DIRECTORY/<version>. The version is `now_s`, or one
 * more than the highest version if that is greater. Creates DIRECTORY if it is missing. Also
 * removes temporary directories that are more than an hour old, because the processes that created
 * them were killed. Returns 0 and sets *ret_version, or returns an error. If only the sync after
 * the renaming fails, the version is published all the same. */
int model_versions_publish(const char *directory, const char *file, int64_t now_s,
                           int (*write)(void *context, const char *path, struct err *err),
                           void *context, int64_t *ret_version, struct err *err);

/* Finds the highest version that has the file `file` and is below `below`, and sets the path of
 * that file. Returns -ERR_NOT_FOUND if there is no such version. */
int model_versions_newest(const char *directory, const char *file, int64_t below,
                          int64_t *ret_version, char ret_path[MODEL_VERSIONS_PATH_MAX],
                          struct err *err);

#endif
