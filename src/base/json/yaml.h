/* YAML 1.1 as kubectl reads it, parsed into JSON trees with lines and columns. Aliases are expanded
 * within the limits. An unknown tag, a key that stands twice in a mapping (unless the limits allow
 * it), a key that JSON cannot hold or an exceeded limit is an error that shows the place, as
 * source.h describes. */
#ifndef TRAINYARD_BASE_JSON_YAML_H
#define TRAINYARD_BASE_JSON_YAML_H

#include "base/json/json.h"
#include "base/source.h"

/* Total number of values that aliases may expand to: a text of a few lines must not become
 * gigabytes. */
enum { YAML_ALIASED_MAX = 100 * 1000 };

/* Parses all documents of the text into one array, in their order; empty documents are left out. A
 * `kind: List` is not unfolded. `limits` may be NULL. */
int yaml_parse(struct arena *arena, const struct source *source, const struct json_limits *limits,
               struct json **ret_documents, struct err *err);

/* Writes YAML in block style that parses to the same tree. */
void yaml_write(const struct json *json, struct buf *buf);

#endif
