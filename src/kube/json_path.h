/* Parses and evaluates JSONPath, as kubectl, the printer columns of CustomResourceDefinitions and
 * Argo Workflows use it: ".spec.replicas", ".metadata.labels['a.b/c']", ".items[0]", ".items[-1:]",
 * ".items[*].name", ".status.conditions[?(@.type==\"Ready\")].status". Pure. The parser is fuzzed,
 * because any client may write a path into a CustomResourceDefinition or a Workflow. */
#ifndef TRAINYARD_KUBE_JSON_PATH_H
#define TRAINYARD_KUBE_JSON_PATH_H

#include "base/json/json.h"

enum {
    JSON_PATH_STEPS_MAX = 64,   /* names, positions and filters of one path */
    JSON_PATH_FOUND_MAX = 1000, /* values that json_path_find() keeps after each step */
    /* The highest position in a path of json_path_find_one() and json_path_find_dotted(). */
    JSON_PATH_POSITION_MAX = 1000000,
};

struct json_path;

/* Parses a path without braces into the arena. The path begins with '.', '[' or '$'; "" names the
 * whole object. Returns 0, or -ERR_BAD_REQUEST if `text` is not a valid path. */
int json_path_parse(struct arena *arena, const char *text, const struct json_path **ret,
                    struct err *err);

/* Returns the values that the path names, at most JSON_PATH_FOUND_MAX, in their order in the object
 * (for '..', a value before the values in it). The array is in the arena and ends with NULL. */
const struct json *const *json_path_find(struct arena *arena, const struct json_path *path,
                                         const struct json *object);

/* Finds one value by a path of names and positions, with or without braces: "{.metadata.name}",
 * "{.spec.ports[0].port}", "{.metadata.labels['a.b/c']}", "{}" for the whole object. *ret becomes
 * NULL if the object has no such value. Returns 0, or -ERR_UNSUPPORTED if `text` is another kind of
 * path or is not a path. */
int json_path_find_one(struct arena *arena, const char *text, const struct json *object,
                       const struct json **ret, struct err *err);

/* Returns the value at a path of names and positions between dots, "status.conditions.0.type", or
 * NULL if the object has no such value. */
const struct json *json_path_find_dotted(struct arena *arena, const char *text,
                                         const struct json *object);

/* Returns a value as kubectl prints it: a string without quotes, any other value as JSON. Returns
 * NULL if the value is missing or null. */
const char *json_path_print(struct arena *arena, const struct json *value);

#endif
