/* Small files of this program that hold one JSON object: settings, tables, the running server.
 * Files that users write (YAML, any size) are read elsewhere. */
#ifndef TRAINYARD_BASE_JSON_JSON_FILE_H
#define TRAINYARD_BASE_JSON_JSON_FILE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/json/json.h"

enum { JSON_FILE_MAX = 4 * 1024 * 1024 };

/* Returns the object in the file; -ERR_NOT_FOUND if there is no file, -ERR_INVALID if it holds no
 * object. */
int json_file_read(struct arena *arena, const char *path, struct json **ret, struct err *err);

/* Writes the file with access for its owner only. A crash leaves the old or the new content. */
int json_file_write(const char *path, const struct json *object, struct err *err);

#endif
