/* Determines type and value of an unquoted YAML scalar by the rules of YAML 1.1, like the
 * Kubernetes tools. The YAML parser uses it. The YAML writer uses it to quote a string that would
 * be parsed as another type. */
#ifndef TRAINYARD_BASE_JSON_YAML_SCALAR_H
#define TRAINYARD_BASE_JSON_YAML_SCALAR_H

#include "base/json/json.h"

/* Sets type and value of `json`: null, a boolean, a number, or else a string. Returns 0, or
 * -ERR_BAD_REQUEST if JSON has no such value (.inf, .nan). The text must not contain a NUL. */
int yaml_scalar_resolve(struct arena *arena, const char *text, size_t size, struct json *json,
                        struct err *err);

#endif
