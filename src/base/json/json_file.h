/* Reads and writes the small files in which this program stores its own data, such as its settings.
 * Each contains one JSON object. Files that users write (YAML, any size) are read elsewhere. */
#ifndef TRAINYARD_BASE_JSON_JSON_FILE_H
#define TRAINYARD_BASE_JSON_JSON_FILE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/json/json.h"

enum { JSON_FILE_MAX = 4 * 1024 * 1024 }; /* bytes */

/* Reads the object in the file. Returns 0, -ERR_NOT_FOUND if the file does not exist,
 * -ERR_BAD_REQUEST if it is not JSON, -ERR_INVALID if the JSON value is not an object, or another
 * error of file_read(). */
int json_file_read(struct arena *arena, const char *path, struct json **ret, struct err *err);

/* Writes the file with mode 0600. Returns 0, -ERR_TOO_LARGE if it would exceed JSON_FILE_MAX, or
 * another error if it cannot be written. After a crash, the file has either its old or its new
 * content. */
int json_file_write(const char *path, const struct json *object, struct err *err);

#endif
