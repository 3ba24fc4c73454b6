/* The type and value of an unquoted YAML scalar, by the rules of YAML 1.1 as the Kubernetes tools
 * apply them. Used by the parser, and by the writer, which quotes a string that would be parsed as
 * another type. */
#ifndef TRAINYARD_BASE_JSON_YAML_SCALAR_H
#define TRAINYARD_BASE_JSON_YAML_SCALAR_H

#include "base/json/json.h"

/* Sets type and value of `json`: null, a boolean, a number, or else a string. A value that JSON
 * cannot hold (.inf, .nan) is -ERR_BAD_REQUEST. The text must have no NUL inside. */
int yaml_scalar_resolve(struct arena *arena, const char *text, size_t size, struct json *json,
                        struct err *err);

#endif
