/* Names that stand twice in one object of a body. Kubernetes takes the last of them, and tells it
 * or refuses it as fieldValidation says; base/json/json.h and base/json/yaml.h refuse them unless
 * told not to, since nothing else needs them. */
#ifndef TRAINYARD_KUBE_JSON_REPEATS_H
#define TRAINYARD_KUBE_JSON_REPEATS_H

#include "kube/schema/decode.h"

/* Read a body in which names may be repeated: each has its last value then.
 * `ret_duplicates` (added to): `duplicate field "spec.containers[0].name"`, each name once. */
int kube_json_duplicates_parse(struct arena *arena, const char *text, size_t size,
                               struct json **ret, struct schema_messages *ret_duplicates,
                               struct err *err);

/* The same of a tree that yaml_parse() read with `duplicates`. They are told in the words of Go's
 * reader of YAML, one for each place: `line 3: key "name" already set in map`. */
void kube_yaml_duplicates_remove(struct arena *arena, struct json *tree,
                                 struct schema_messages *ret_duplicates);

#endif
