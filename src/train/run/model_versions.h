/* The versions of an exported model: a directory with one subdirectory per version, named by a
 * number, as in TensorFlow Serving. A version appears complete or not at all. The chief writes one
 * at the end of training; the model server watches the directory and serves the highest. */
#ifndef TRAINYARD_TRAIN_RUN_MODEL_VERSIONS_H
#define TRAINYARD_TRAIN_RUN_MODEL_VERSIONS_H

#include "base/err.h"

#include <stdint.h>

enum { MODEL_VERSIONS_PATH_MAX = 4096 };

/* Lets `write` create DIRECTORY/<version>/FILE below a temporary name, syncs it and renames it. The
 * version is the time in seconds, or one more than the highest version, whichever is greater. */
int model_versions_publish(const char *directory, const char *file, int64_t now_s,
                           int (*write)(void *context, const char *path, struct err *err),
                           void *context, int64_t *ret_version, struct err *err);

/* Finds the highest version below `below` (INT64_MAX: of all) that has FILE, and the path of that
 * file. Returns -ERR_NOT_FOUND if there is none. */
int model_versions_newest(const char *directory, const char *file, int64_t below,
                          int64_t *ret_version, char ret_path[MODEL_VERSIONS_PATH_MAX],
                          struct err *err);

#endif
