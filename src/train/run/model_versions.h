/* Versions of an exported model: a directory that holds one directory a version, named by a number,
 * as TensorFlow Serving has them. A version appears whole or not at all. Written by the chief at
 * the end of training; watched by the server, which takes the highest. */
#ifndef TRAINYARD_TRAIN_MODEL_VERSIONS_H
#define TRAINYARD_TRAIN_MODEL_VERSIONS_H

#include "base/err.h"

#include <stdint.h>

enum { MODEL_VERSIONS_PATH_MAX = 4096 };

/* Write DIRECTORY/<version>/FILE by `write` into a directory aside, sync it and give it its name.
 * The version is the time in seconds, or one more than the highest there, whichever is greater. */
int model_versions_publish(const char *directory, const char *file, int64_t now_s,
                           int (*write)(void *context, const char *path, struct err *err),
                           void *context, int64_t *ret_version, struct err *err);

/* The highest version below `below` (INT64_MAX: of all) that has FILE, and the path of that;
 * ERR_NOT_FOUND where there is none yet. */
int model_versions_newest(const char *directory, const char *file, int64_t below,
                          int64_t *ret_version, char ret_path[MODEL_VERSIONS_PATH_MAX],
                          struct err *err);

#endif
