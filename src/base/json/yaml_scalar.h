/* What an unquoted YAML scalar stands for, in the words of YAML 1.1 as the Kubernetes tools read
 * it. Shared by the reader, and by the writer that must quote a string which would be read as
 * something else. */
#ifndef TRAINYARD_BASE_YAML_SCALAR_H
#define TRAINYARD_BASE_YAML_SCALAR_H

#include "base/json/json.h"

/* Fill type and value of `json`: null, a boolean, a number, or else a string. Values JSON cannot
 * hold (.inf, .nan) are ERR_BAD_REQUEST. The text has no NUL inside. */
int yaml_scalar_resolve(struct arena *arena, const char *text, size_t size, struct json *json,
                        struct err *err);

#endif
