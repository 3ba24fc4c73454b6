/* Handles duplicate names in JSON and YAML objects of a request body. As in Kubernetes, the last
 * value is used, and fieldValidation decides whether the duplicate is reported or rejected.
 * base/json/json.h and base/json/yaml.h reject duplicates by default, because only request bodies
 * may have them. */
#ifndef TRAINYARD_KUBE_SCHEMA_JSON_DUPLICATES_H
#define TRAINYARD_KUBE_SCHEMA_JSON_DUPLICATES_H

#include "kube/schema/decode.h"

/* Parses a JSON body that may have duplicate names. Each name gets its last value. Appends the
 * message `duplicate field "spec.containers[0].name"` to `ret_duplicates`, once per field. Returns
 * 0, or -ERR_BAD_REQUEST if the body is not valid JSON. */
int kube_json_duplicates_parse(struct arena *arena, const char *text, size_t size,
                               struct json **ret, struct schema_messages *ret_duplicates,
                               struct err *err);

/* Removes the duplicates from a tree that yaml_parse() read with `repeats`; the last value stays.
 * For each duplicate, appends the message of Go's YAML decoder to `ret_duplicates`: `line 3: key
 * "name" already set in map`. */
void kube_yaml_duplicates_remove(struct arena *arena, struct json *tree,
                                 struct schema_messages *ret_duplicates);

#endif
