/* The JSONPath of kubectl and of printed columns: ".spec.replicas", ".metadata.labels['a.b/c']",
 * ".items[0]", ".items[-1:]", ".items[*].name", ".status.conditions[?(@.type==\"Ready\")].status".
 * Pure and fuzzed: paths come from definitions that anybody may write. */
#ifndef TRAINYARD_KUBE_JSON_PATH_H
#define TRAINYARD_KUBE_JSON_PATH_H

#include "base/json/json.h"

enum { JSON_PATH_STEPS_MAX = 64, JSON_PATH_FOUND_MAX = 1000 };

struct json_path;

/* In the arena. Without braces; a leading '.' or '$' may be missing only before '['. */
int json_path_parse(struct arena *arena, const char *text, const struct json_path **ret,
                    struct err *err);

/* All values there, in order, at most JSON_PATH_FOUND_MAX; the array is in the arena, ends with
 * NULL. */
const struct json *const *json_path_find(struct arena *arena, const struct json_path *path,
                                         const struct json *object);

#endif
